import type { Lab } from '../lab.js';
import type { Section } from '../section.js';

export interface Scenario {
  /** As given on the command line. */
  readonly name: string;
  run(lab: Lab): Promise<Section>;
}
