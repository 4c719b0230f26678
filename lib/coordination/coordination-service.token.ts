import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import { CoordinationService } from './coordination.service.js';

/**
 * The injection token of the `CoordinationService` of a connection: the class itself for the default one, a symbol that is
 * the same for the same name for the others.
 */
export function getCoordinationToken(name: string = DEFAULT_CONNECTION): typeof CoordinationService | symbol {
  return name === DEFAULT_CONNECTION ? CoordinationService : connectionToken('CoordinationService', name);
}
