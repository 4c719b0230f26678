import { compileProject } from '../support/compile-project.js';

export default (): Promise<void> => compileProject('test/path');
