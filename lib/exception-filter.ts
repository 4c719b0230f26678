import type { FactoryProvider, ValueProvider } from '@nestjs/common';
import { ApplicationConfig, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { check } from './contract/check.js';
import { LockConfigurationError } from './contract/errors.js';
import { FILTER_OPTIONS, LockExceptionFilter } from './transports/lock-exception.filter.js';
import { checkFilterOptions } from './transports/public-error.js';
import type { LockExceptionFilterOptions } from './transports/public-error.js';

/** An application's setting for the filter: its options, or `false` when it is not to be registered. */
export type ExceptionFilterSetting = false | LockExceptionFilterOptions;

interface GivenSetting {
  readonly connectionName: string;
  readonly setting: ExceptionFilterSetting;
}

const SETTING = Symbol('LOCK_EXCEPTION_FILTER_SETTING');
const GIVEN = Symbol('LOCK_EXCEPTION_FILTER_GIVEN');

/** Provides the setting of one registration of the module. @throws LockConfigurationError that names the wrong field */
export function exceptionFilterSetting(
  connectionName: string,
  setting: ExceptionFilterSetting,
): ValueProvider<GivenSetting> {
  const isSetting = setting === false || (typeof setting === 'object' && setting !== null);
  check(isSetting, 'LockModule: exceptionFilter', setting, 'false, or options such as { exposeKey: true }');
  if (setting) checkFilterOptions('LockModule: exceptionFilter', setting);
  return { provide: GIVEN, useValue: { connectionName, setting } };
}

/** The setting for the whole application, whichever connection an error comes from. */
const setting: FactoryProvider<ExceptionFilterSetting> = {
  provide: SETTING,
  inject: [DiscoveryService],
  useFactory: (discovery: DiscoveryService) => {
    const wrappers = discovery.getProviders().filter(({ token }) => token === GIVEN);
    const given = wrappers.map(({ instance }): GivenSetting => instance);
    if (given.length <= 1) return given[0]?.setting ?? {};
    const names = given.map(({ connectionName }) => `"${connectionName}"`).join(', ');
    throw new LockConfigurationError(
      `LockModule: exceptionFilter is given for the connections ${names}: it is the application's, so give it to one of them`,
    );
  },
};

const options: FactoryProvider<LockExceptionFilterOptions> = {
  provide: FILTER_OPTIONS,
  inject: [SETTING],
  useFactory: (given: ExceptionFilterSetting) => given || {},
};

/**
 * Nest asks its global filters from the last to the first. The first place is therefore below every filter of the
 * application's own. APP_FILTER does not give that place: its order is that of the modules, and the root module's come
 * first.
 */
const filter: FactoryProvider<LockExceptionFilter> = {
  provide: LockExceptionFilter,
  inject: [HttpAdapterHost, FILTER_OPTIONS, SETTING, ApplicationConfig],
  useFactory: (
    adapterHost: HttpAdapterHost,
    given: LockExceptionFilterOptions,
    wanted: ExceptionFilterSetting,
    config: ApplicationConfig,
  ) => {
    const made = new LockExceptionFilter(adapterHost, given);
    if (wanted) config.getGlobalFilters().unshift(made);
    return made;
  },
};

/** The providers that an application needs once, however many connections it registers. */
export const exceptionFilterProviders = [setting, options, filter];

/** The exports that `@UseFilters(LockExceptionFilter)` and `app.get(LockExceptionFilter)` need. */
export const exceptionFilterExports = [FILTER_OPTIONS, LockExceptionFilter];
