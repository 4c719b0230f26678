/** A hook of Node: https://nodejs.org/api/module.html#resolvespecifier-context-nextresolve */
export function resolve(specifier, context, next) {
  return next(specifier === 'typescript' ? 'typescript-6' : specifier, context);
}
