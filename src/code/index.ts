/** Code: files that an engine writes, named, checked by parsers and packed as a project. */
export { type CodeService, checksOf, codeBlocks, createCode, isProject, kindOf, problemsIn, zipOf } from './service'
