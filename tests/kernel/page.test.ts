import { describe, expect, test } from 'bun:test'
import { AppError } from '../../src/kernel/errors'
import { decodeCursor, encodeCursor, pageFields, toPage } from '../../src/kernel/page'

const rows = Array.from({ length: 5 }, (_, at) => ({ at, id: `row-${at}` }))
const markOf = ({ at, id }: { at: number; id: string }) => ({ at, id })

describe('pages', () => {
  test('a cursor decodes to the position it was made of', () => {
    const mark = { at: 1_767_225_600_000, id: 'b3c1' }
    expect(decodeCursor(encodeCursor(mark))).toEqual(mark)
    expect(decodeCursor(undefined)).toBeNull()
  })

  test('with one row more than fits, the last row shown becomes the cursor', () => {
    const page = toPage(rows, 4, markOf)
    expect(page.items).toEqual(rows.slice(0, 4))
    expect(decodeCursor(page.next!)).toEqual({ at: 3, id: 'row-3' })
    expect(pageFields(page)).toEqual({ has_more: true, next_cursor: page.next })
  })

  test.each([5, 6, 100])('five rows on a page of %i are all there is', (limit) => {
    const page = toPage(rows, limit, markOf)
    expect(page.items).toHaveLength(5)
    expect(pageFields(page)).toEqual({ has_more: false, next_cursor: null })
  })

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  test.each([
    ['nothing', ''],
    ['noise', 'not base64!'],
    ['other JSON', encoded({ at: 1, id: 'x' })],
    ['one part', encoded([1])],
    ['three parts', encoded([1, 'x', 2])],
    ['a time that is text', encoded(['1', 'x'])],
    ['a fraction', encoded([1.5, 'x'])],
    ['an id that is a number', encoded([1, 2])],
    ['an endless id', encoded([1, 'x'.repeat(65)])],
    ['SQL', encoded(['1; DROP TABLE keys', "x' OR 1=1"])],
  ])('a cursor of %s is refused (B34)', (_, cursor) => {
    expect(() => decodeCursor(cursor)).toThrow(AppError)
    expect(() => decodeCursor(cursor)).toThrow('"cursor" was not returned by this list')
  })
})
