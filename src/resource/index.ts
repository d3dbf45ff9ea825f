/** Resources: a noun with an owner, declared once. Its rows, verbs and routes are derived (docs/design.md 12.1). */
export type { ResourceDeps } from './deps'
export { ownedColumns, ownedIndexes, scopeOf } from './rows'
export {
  type AnyNoun,
  accountOf,
  type Change,
  type ChangedOf,
  createResource,
  defineResource,
  type Facts,
  type MadeOf,
  type OwnerFilter,
  type ReplyOf,
  type Resource,
} from './service'
