import { afterAll, afterEach, beforeAll } from 'vitest';
import { ZooKeeperEnsemble } from '../../../lib/testing/index.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';

/** Three servers for the tests of a suite. All faults are removed after each test. */
export class ThreeServers {
  #ensemble: ZooKeeperEnsemble | undefined;

  constructor() {
    beforeAll(async () => {
      this.#ensemble = await ZooKeeperEnsemble.start();
    });
    afterEach(() => this.ensemble.restore());
    afterAll(() => this.ensemble.stop());
  }

  get ensemble(): ZooKeeperEnsemble {
    if (!this.#ensemble) throw new Error('the servers have not been started yet');
    return this.#ensemble;
  }

  async roles(): Promise<[leader: EnsembleServer, one: EnsembleServer, other: EnsembleServer]> {
    const [one, other] = await this.ensemble.followers();
    return [await this.ensemble.leader(), one!, other!];
  }
}
