import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(path, new URL('../../', import.meta.url)));

export const ROOT = at('.');

export const NODE_MODULES = at('node_modules');

/** The node_modules folder that contains the NestJS of a major version. */
export const NEST_HOMES = { 11: at('test/nest-11/node_modules'), 12: NODE_MODULES } as const;

export type NestMajor = keyof typeof NEST_HOMES;

export const consumer = (name: string) => at(`test/consumers/${name}`);
