import { type Simulation, simulate } from './simulate.js';
import { bugfix } from './story.js';

/** Runs a test on a page and closes it whatever happens. */
export async function on<T extends { close(): Promise<void> }>(opened: Promise<T>, work: (opened: T) => Promise<void>): Promise<void> {
  const one = await opened;
  try {
    await work(one);
  } finally {
    await one.close();
  }
}

/** The whole story, played to its end. */
export async function story(): Promise<Simulation> {
  const simulation = await simulate(bugfix(null));
  await simulation.time.play();
  return simulation;
}
