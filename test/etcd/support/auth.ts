/** @param host `host:port` of a server without TLS */
async function post(host: string, path: string, request: object, headers: Record<string, string> = {}) {
  const response = await fetch(`http://${host}/v3/${path}`, { method: 'POST', body: JSON.stringify(request), headers });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`etcd answers ${path} with ${JSON.stringify(answer)}`);
  return answer;
}

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** Makes calls as root, whose password is "root". */
export function asRoot(host: string) {
  return async (path: string, request: object = {}) => {
    const { token } = await post(host, 'auth/authenticate', { name: 'root', password: 'root' });
    return post(host, path, request, { Authorization: String(token) });
  };
}

/** Enables authentication, with a user "shop" who may use the keys below "shop/". Passwords are the names. */
export async function enableAuth(host: string): Promise<void> {
  const perm = { permType: 'READWRITE', key: inBase64('shop/'), range_end: inBase64('shop0') };
  await post(host, 'auth/role/add', { name: 'root' });
  await post(host, 'auth/role/add', { name: 'shop' });
  await post(host, 'auth/role/grant', { name: 'shop', perm });
  for (const name of ['root', 'shop']) {
    await post(host, 'auth/user/add', { name, password: name });
    await post(host, 'auth/user/grant', { user: name, role: name });
  }
  await post(host, 'auth/enable', {});
}
