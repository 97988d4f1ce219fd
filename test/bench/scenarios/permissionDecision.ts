import { run } from '../permissions.js';
import type { Scenario } from './scenario.js';

export const permissionDecision: Scenario = {
  name: 'permission',
  run: async () => {
    const rows = await run();
    return {
      scenario: 'permission',
      title: 'Permission decision',
      text: 'Wall time of one decision under 300 rules, a new input each time; median, and the 95th percentile as the upper end.',
      rows: rows.map(({ name, medianUs, p95Us }) => ({ name, value: { median: medianUs, low: medianUs, high: p95Us }, unit: 'µs' })),
    };
  },
};
