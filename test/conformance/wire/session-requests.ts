import { Fields } from './fields.js';
import { Op, XID } from './op.js';
import { nothing } from './request.js';
import type { Request } from './request.js';
import { told } from './told.js';

export const ping: Request = { type: Op.ping, xid: XID.ping, text: 'ping', body: Buffer.alloc(0), tell: nothing };

export const closeSession: Request = {
  type: Op.closeSession,
  text: 'closeSession',
  body: Buffer.alloc(0),
  tell: nothing,
  isUnordered: true,
};

export const auth = (scheme: string | null, credentials: string | null): Request => ({
  type: Op.auth,
  xid: XID.auth,
  text: `auth ${scheme} ${credentials}`,
  body: new Fields().int(0).string(scheme).string(credentials).toBuffer(),
  tell: nothing,
});

export const whoAmI: Request = { type: Op.whoAmI, text: 'whoAmI', body: Buffer.alloc(0), tell: told.identities };

/** Any type with any bytes, for requests that no client sends. The reply is shown in hexadecimal. */
export const anything = (type: number, body: Buffer = Buffer.alloc(0), xid?: number): Request => ({
  type,
  text: `type=${type} ${body.length > 40 ? `<${body.length} bytes>` : body.toString('hex') || 'nothing'}`,
  body,
  tell: (reply) => reply.rest().toString('hex'),
  ...(xid !== undefined && { xid }),
});
