import { Fields, OPEN } from './fields.js';
import type { AclEntry } from './fields.js';
import { Op } from './op.js';
import { nothing } from './request.js';
import type { Request, Tell } from './request.js';
import { bytes, quoted, told } from './told.js';

export interface CreateOptions {
  readonly data?: string | Buffer | null;
  /** 0 persistent, 1 ephemeral, 2 sequential, 3 both, 4 container, 5 with a time to live, 6 that and sequential. */
  readonly flags?: number;
  readonly acl?: readonly AclEntry[] | null;
}

type Path = string | null;

export const create = (path: Path, options: CreateOptions = {}): Request =>
  creation('create', Op.create, path, options, told.path);

export const create2 = (path: Path, options: CreateOptions = {}): Request =>
  creation('create2', Op.create2, path, options, told.pathAndStat);

export const createContainer = (path: Path, options: CreateOptions = {}): Request =>
  creation('createContainer', Op.createContainer, path, { flags: 4, ...options }, told.pathAndStat);

export function createTtl(path: Path, ttlMs: number, options: CreateOptions = {}): Request {
  const request = creation('createTTL', Op.createTtl, path, { flags: 5, ...options }, told.pathAndStat);
  const body = new Fields().raw(request.body).long(BigInt(ttlMs)).toBuffer();
  return { ...request, text: `${request.text} ttl=${ttlMs}`, body };
}

export const remove = (path: Path, version = -1): Request => ({
  type: Op.delete,
  text: `delete ${quoted(path)} version=${version}`,
  body: new Fields().string(path).int(version).toBuffer(),
  tell: nothing,
});

export const check = (path: Path, version = -1): Request => ({
  ...remove(path, version),
  type: Op.check,
  text: `check ${quoted(path)} version=${version}`,
});

export function setData(path: Path, data: string | Buffer | null, version = -1): Request {
  const value = bufferOf(data);
  return {
    type: Op.setData,
    text: `setData ${quoted(path)} ${bytes(value)} version=${version}`,
    body: new Fields().string(path).buffer(value).int(version).toBuffer(),
    tell: told.stat,
  };
}

export const exists = (path: Path, watch = false): Request => reading('exists', Op.exists, path, watch, told.stat);

export const getData = (path: Path, watch = false): Request =>
  reading('getData', Op.getData, path, watch, told.dataAndStat);

export const getChildren = (path: Path, watch = false): Request =>
  reading('getChildren', Op.getChildren, path, watch, told.children);

export const getChildren2 = (path: Path, watch = false): Request =>
  reading('getChildren2', Op.getChildren2, path, watch, told.childrenAndStat);

export const getAcl = (path: Path): Request => ofPath('getACL', Op.getAcl, path, told.aclAndStat);

export const setAcl = (path: Path, acl: readonly AclEntry[] | null, version = -1): Request => ({
  type: Op.setAcl,
  text: `setACL ${quoted(path)} ${aclText(acl)} version=${version}`,
  body: new Fields().string(path).acl(acl).int(version).toBuffer(),
  tell: told.stat,
});

export const sync = (path: Path): Request => ofPath('sync', Op.sync, path, told.path);

export const getEphemerals = (path: Path): Request => ofPath('getEphemerals', Op.getEphemerals, path, told.children);

export const getAllChildrenNumber = (path: Path): Request =>
  ofPath('getAllChildrenNumber', Op.getAllChildrenNumber, path, told.int);

function creation(name: string, type: number, path: Path, options: CreateOptions, tell: Tell): Request {
  const { data = '', flags = 0, acl = OPEN } = options;
  const value = bufferOf(data);
  const permissions = acl === OPEN ? '' : ` acl=${aclText(acl)}`;
  return {
    type,
    text: `${name} ${quoted(path)} ${bytes(value)} flags=${flags}${permissions}`,
    body: new Fields().string(path).buffer(value).acl(acl).int(flags).toBuffer(),
    tell,
  };
}

function reading(name: string, type: number, path: Path, watch: boolean, tell: Tell): Request {
  return {
    type,
    text: `${name} ${quoted(path)}${watch ? ' watch' : ''}`,
    body: new Fields().string(path).bool(watch).toBuffer(),
    tell,
  };
}

function ofPath(name: string, type: number, path: Path, tell: Tell): Request {
  return { type, text: `${name} ${quoted(path)}`, body: new Fields().string(path).toBuffer(), tell };
}

function bufferOf(data: string | Buffer | null): Buffer | null {
  return typeof data === 'string' ? Buffer.from(data) : data;
}

function aclText(acl: readonly AclEntry[] | null): string {
  if (acl === null) return 'null';
  return `[${acl.map((one) => `${one.scheme}:${one.id}:${one.permissions}`).join(', ')}]`;
}
