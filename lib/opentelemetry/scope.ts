/** The instrumentation scope: the name of the meter and of the tracer. */
export const SCOPE = 'nestjs-distributed-lock';
