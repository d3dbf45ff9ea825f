import { AppError } from './errors'
import { parsedJson } from './json'
import { type Static, t } from './schema'

/** `limit` and `cursor` of every list (docs/api.md 1.8). */
export const PageQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: t.Optional(t.String({ maxLength: 512 })),
})
export type PageQuery = Static<typeof PageQuery>

/** Where a page ended: the sort value and the id that breaks ties. */
export type Mark = { at: number; id: string }

/** Result of a list verb: items in order, and the cursor of the next page or null at the end. */
export type Page<T> = { items: T[]; next: string | null }

/** A cursor of the list with this name. */
export function encodeCursor(list: string, { at, id }: Mark): string {
  return Buffer.from(JSON.stringify([at, id, list])).toString('base64url')
}

/**
 * Decodes a cursor. Throws 400 `validation_error` for one of another list, and for text that `encodeCursor` did not
 * make (docs/attacks.md B34).
 */
export function decodeCursor(list: string, cursor: string | undefined): Mark | null {
  if (cursor === undefined) return null
  const parts = parsedJson(Buffer.from(cursor, 'base64url').toString('utf8'))
  const [at, id] = Array.isArray(parts) ? parts : []
  if (!Number.isSafeInteger(at) || typeof id !== 'string' || id.length > 64) throw invalidCursor()
  const mark = { at: at as number, id }
  if (encodeCursor(list, mark) !== cursor) throw invalidCursor()
  return mark
}

export const invalidCursor = (): AppError =>
  new AppError('validation_error', '"cursor" was not returned by this list. Leave it out to start at the beginning.', {
    param: 'cursor',
  })

/** Makes a page from rows fetched with a limit of one more. An extra row means that there is a next page. */
export function toPage<T>(list: string, rows: T[], limit: number, markOf: (row: T) => Mark): Page<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last ? encodeCursor(list, markOf(last)) : null }
}

/** Maps the items of a page and keeps its cursor. */
export const mapPage = <From, To>({ items, next }: Page<From>, make: (item: From) => To): Page<To> => ({
  items: items.map((item) => make(item)),
  next,
})

/** The paging members of a list answer. */
export const pageFields = (page: Page<unknown>) => ({ has_more: page.next !== null, next_cursor: page.next })

/** A page as the answer of a list, with its items under the given name. */
export const pageAs = <const Name extends string, Item>(name: Name, page: Page<Item>) =>
  ({ [name]: page.items, ...pageFields(page) }) as { [N in Name]: Item[] } & ReturnType<typeof pageFields>
