/** Code: files that an engine writes, named, checked by parsers and packed as a project. */
export { codeBlocks } from './blocks'
export { kindOf } from './languages'
export { checksOf, isProject, problemsIn, zipOf } from './project'
export { type CodeService, createCode } from './service'
