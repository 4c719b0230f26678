import { Global, Module } from '@nestjs/common';
import { settings } from '../settings.js';
import { ShopFiles } from './shop-files.js';

@Global()
@Module({
  providers: [{ provide: ShopFiles, useFactory: () => new ShopFiles(settings.shopDir) }],
  exports: [ShopFiles],
})
export class FilesModule {}
