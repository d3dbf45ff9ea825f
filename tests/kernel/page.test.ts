import { describe, expect, test } from 'bun:test'
import { AppError } from '../../src/kernel/errors'
import { decodeCursor, encodeCursor, pageFields, toPage } from '../../src/kernel/page'

const rows = Array.from({ length: 5 }, (_, at) => ({ at, id: `row-${at}` }))
const markOf = ({ at, id }: { at: number; id: string }) => ({ at, id })

describe('pages', () => {
  test('a cursor decodes to the position it was made of', () => {
    const mark = { at: 1_767_225_600_000, id: 'b3c1' }
    expect(decodeCursor('keys', encodeCursor('keys', mark))).toEqual(mark)
    expect(decodeCursor('keys', undefined)).toBeNull()
  })

  test('with one row more than fits, the last row shown becomes the cursor', () => {
    const page = toPage('rows', rows, 4, markOf)
    expect(page.items).toEqual(rows.slice(0, 4))
    expect(decodeCursor('rows', page.next!)).toEqual({ at: 3, id: 'row-3' })
    expect(pageFields(page)).toEqual({ has_more: true, next_cursor: page.next })
  })

  test.each([5, 6, 100])('five rows on a page of %i are all there is', (limit) => {
    const page = toPage('rows', rows, limit, markOf)
    expect(page.items).toHaveLength(5)
    expect(pageFields(page)).toEqual({ has_more: false, next_cursor: null })
  })

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  test.each([
    ['nothing', ''],
    ['noise', 'not base64!'],
    ['other JSON', encoded({ at: 1, id: 'x' })],
    ['one part', encoded([1])],
    ['no list', encoded([1, 'x'])],
    ['another list', encoded([1, 'x', 'jobs'])],
    ['a time that is text', encoded(['1', 'x', 'keys'])],
    ['a fraction', encoded([1.5, 'x', 'keys'])],
    ['an id that is a number', encoded([1, 2, 'keys'])],
    ['an endless id', encoded([1, 'x'.repeat(65), 'keys'])],
    ['a real one with more behind it', `${encoded([1, 'x', 'keys'])}x`],
    ['a real one with another part', encoded([1, 'x', 'keys', 2])],
    ['SQL', encoded(['1; DROP TABLE keys', "x' OR 1=1", 'keys'])],
  ])('a cursor of %s is refused (B34)', (_, cursor) => {
    expect(() => decodeCursor('keys', cursor)).toThrow(AppError)
    expect(() => decodeCursor('keys', cursor)).toThrow('"cursor" was not returned by this list')
  })
})
