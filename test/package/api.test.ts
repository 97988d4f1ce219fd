import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiReport, reportsOfSources, unnameable } from '../../scripts/api.js';

describe('the public API', () => {
  let reports: readonly ApiReport[];
  beforeAll(() => {
    reports = reportsOfSources(false);
  }, 300_000);

  it('is as the committed extract says; after a change, run npm run api', () => {
    expect(reports.filter(({ changed }) => changed).map(({ entry }) => entry)).toEqual([]);
  });

  it('lets users name whatever its signatures speak of', () => {
    expect(unnameable(reports)).toEqual([]);
    // A check over nothing would pass: the kit's signatures do speak of types of the library's own entry.
    expect(reports.find(({ entry }) => entry === 'testing')?.foreign).toContain('PermissionMode');
  });

  it('has a docstring on every name and every member', () => {
    expect(reports.flatMap(({ undocumented }) => undocumented)).toEqual([]);
  });
});
