/** Resources: a noun with an owner, declared once, from which its rows, its verbs and its routes are made (design 12.1). */
export { ownedColumns, ownedIndexes } from './columns'
export {
  type AnyNoun,
  type ChangedOf,
  defineResource,
  type Facts,
  type MadeOf,
  type ReplyOf,
} from './declaration'
export type { ResourceDeps } from './deps'
export { accountOf, type Whose } from './reach'
export { scopeOf } from './rows'
export { type Change, createResource, type Resource } from './service'
