import { describe, expect, inject, it } from 'vitest';
import { LockConfigurationError } from '../../lib/contract/errors.js';
import { ErrorCode } from '../../lib/zookeeper/session/requests.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient } from '../support/znodes.js';

const connectString = inject('zookeeper');

const as = (credentials: string) => ({ connectString, auth: { scheme: 'digest', credentials } });

describe('authentication and access', () => {
  it('protects the znodes of an authenticated service from other clients', async () => {
    const basePath = freshBasePath();
    const shop = await openService({ ...as('shop:secret'), basePath });
    const sameShop = await openService({ ...as('shop:secret'), basePath });
    await shop.acquire('till');

    expect(await sameShop.tryAcquire('till')).toBeNull();
    const stranger = await openClient(connectString);
    await expect(contendersAt(stranger, `${basePath}/till`)).rejects.toMatchObject({ code: ErrorCode.noAuth });
    expect(await contendersAt(await openClient(connectString, 'shop:secret'), `${basePath}/till`)).toHaveLength(1);
  });

  it('rejects a service without access with an error that names the options to check', async () => {
    const basePath = freshBasePath();
    const shop = await openService({ ...as('shop:secret'), basePath });
    await shop.acquire('till');
    const stranger = await openService({ ...as('stranger:guess'), basePath });

    const refused = stranger.acquire('till');

    await expect(refused).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(refused).rejects.toThrow(/noAuth.*check the auth and acl options/);
  });

  it('does not start when the servers refuse the credentials, and reports why', async () => {
    const auth = { scheme: 'unheard-of', credentials: 'x' };
    await expect(openService({ connectString, auth })).rejects.toThrow(/refused the credentials/);
  });

  it('grants the access that the acl option lists', async () => {
    const basePath = freshBasePath();
    const shop = await openService({
      ...as('shop:secret'),
      basePath,
      acl: [
        { permissions: 31, scheme: 'auth', id: '' },
        { permissions: 1, scheme: 'world', id: 'anyone' },
      ],
    });
    await shop.acquire('till');
    expect(await contendersAt(await openClient(connectString), `${basePath}/till`)).toHaveLength(1);
  });

  it('creates everything below the chroot, which need not exist', async () => {
    const chroot = freshBasePath();
    const service = await openService({ connectString: `${connectString}${chroot}/app`, basePath: '/locks' });
    await service.acquire('k');
    await service.acquire('/elsewhere');
    const client = await openClient(connectString);
    expect(await contendersAt(client, `${chroot}/app/locks/k`)).toHaveLength(1);
    expect(await contendersAt(client, `${chroot}/app/elsewhere`)).toHaveLength(1);
  });
});
