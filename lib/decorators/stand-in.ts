import { LockConfigurationError } from '../contract/errors.js';
import { LockService } from '../service/lock.service.js';

/**
 * Returns the service. A test's stand-in is wrapped: it throws an error that names what it lacks. Otherwise a stand-in
 * that does nothing would make the method do nothing.
 */
export function complete(service: LockService, title: string): LockService {
  if (service instanceof LockService) return service;
  return new Proxy<LockService>(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') throw standIn(title, `has no ${String(name)}()`);
      return (...args: unknown[]): unknown => {
        const made: unknown = Reflect.apply(member, target, args);
        if (typeof made === 'object' && made !== null) return made;
        throw standIn(title, `has a ${String(name)}() that returns no lock`);
      };
    },
  });
}

/** Returns the lock. @throws LockConfigurationError for anything that is not a lock */
export function checkLock<L extends { readonly using: unknown }>(lock: L | undefined, title: string): L {
  if (typeof lock?.using === 'function') return lock;
  throw standIn(title, 'makes a lock that has no using()');
}

/** The error for a lock that has neither run the method nor refused it. */
export function neverRun(title: string): LockConfigurationError {
  return standIn(title, 'makes a lock whose using() does not call what it is given');
}

function standIn(title: string, what: string): LockConfigurationError {
  return new LockConfigurationError(
    `${title} did not run: the LockService that it was given is a stand-in that ${what}. In unit tests import ` +
      "LockTestingModule.forRoot() of 'nestjs-distributed-lock/testing': it runs methods under locks in memory",
  );
}
