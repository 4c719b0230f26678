/** The promise that `ask` makes; what it throws instead is a rejection. */
export function promised<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}
