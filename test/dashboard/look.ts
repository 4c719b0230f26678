import 'reflect-metadata';
import { openShop } from './lively-shop.js';

// A look at the page: `npx tsc -p test/dashboard/tsconfig.json && node build/dashboard/js/test/dashboard/look.js`.
const { url } = await openShop(Number(process.env.PORT ?? 0));
console.log(url);
