import { LockConfigurationError } from '../contract/errors.js';
import { LockService } from '../service/lock.service.js';

/**
 * The service, or whatever a test has put in its place: that then says what it lacks. A stand-in that does nothing must
 * not make a method do nothing.
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

/** @throws LockConfigurationError for what is no lock */
export function checkLock<L extends { readonly using: unknown }>(lock: L | undefined, title: string): L {
  if (typeof lock?.using === 'function') return lock;
  throw standIn(title, 'makes a lock that has no using()');
}

/** The error for a lock that has neither let the method run nor refused it. */
export function neverRun(title: string): LockConfigurationError {
  return standIn(title, 'makes a lock whose using() does not call what it is given');
}

function standIn(title: string, what: string): LockConfigurationError {
  return new LockConfigurationError(
    `${title} did not run: the LockService that it was given is a stand-in that ${what}. In unit tests import ` +
      "LockTestingModule.forRoot() of 'nestjs-distributed-lock/testing': it runs methods under locks in memory",
  );
}
