const isColoured = process.stdout.isTTY && !process.env['NO_COLOR'];

const paint = (code: number) => (text: string) => (isColoured ? `\u001B[${code}m${text}\u001B[0m` : text);

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
