import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OWN_NEST = fileURLToPath(new URL('./node_modules/@nestjs/core/package.json', import.meta.url));

/**
 * Without packages of its own, this folder resolves those of the folders above: the tests would run on NestJS 12.
 * @throws Error that says what to install
 */
export function checkNest11(manifest = OWN_NEST): void {
  const advice = 'npm ci --prefix test/nest-11, or npm test, which does it';
  if (!existsSync(manifest)) throw new Error(`test/nest-11 has no NestJS of its own: ${advice}`);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  if (!version.startsWith('11.')) throw new Error(`test/nest-11 has NestJS ${version}, and must have 11: ${advice}`);
}

export default (): void => checkNest11();
