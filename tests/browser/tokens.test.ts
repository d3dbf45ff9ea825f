import { describe, expect, test } from 'bun:test'
import { createEmbedTokens, EMBED_MS } from '../../src/browser/present'
import { BrowserSessionId } from '../../src/browser/schema'
import { createWorld } from '../support/world'
import { rowOf } from './support'

const tokens = createEmbedTokens({ masterKey: new Uint8Array(32).fill(7), secret: '' })
const bound = { session: BrowserSessionId.create(), user: 'ada' }
const now = 1_800_000_000_000
const token = tokens.sign(bound, now + EMBED_MS, 'control')

describe('a token of a live view (I35)', () => {
  test('works for its session and user until its hour is over', () => {
    expect(tokens.read(token, bound, now)).toEqual({ rights: 'control', until: now + EMBED_MS })
    expect(tokens.read(token, bound, now + EMBED_MS - 1)).not.toBeNull()
    expect(tokens.read(token, bound, now + EMBED_MS)).toBeNull()
    expect(tokens.read(token, { ...bound, session: BrowserSessionId.create() }, now)).toBeNull()
    expect(tokens.read(token, { ...bound, user: 'eve' }, now)).toBeNull()
  })

  test('of 500 changed ones none is accepted', () => {
    const changed = new Set<string>()
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEF0123456789.-_ %'
    for (let at = 0; changed.size < 480; at++) {
      const place = (at * 7) % token.length
      const letter = letters[(at * 13) % letters.length]!
      if (token[place] !== letter) changed.add(token.slice(0, place) + letter + token.slice(place + 1))
    }
    changed.add(token.toUpperCase()).add(`${token} `).add(` ${token}`).add(`${token}\n`).add(token.slice(1)).add('')
    changed.add(token.replace('control', 'view')).add(`0${token}`).add(token.repeat(2)).add(`${token}.`)
    changed.add(token.replace(/^\d+/, (digits) => String(Number(digits) + 1)))
    for (let at = 1; changed.size < 500; at++) changed.add(token.slice(0, -at))
    expect(changed.has(token)).toBe(false)
    expect([...changed].filter((text) => tokens.read(text, bound, now) !== null)).toEqual([])
  })
})

describe('the versions of a live view (I35)', async () => {
  const world = await createWorld()
  const person = await world.person()

  test('are all different and growing under 1,000 refreshes at once', async () => {
    const id = await rowOf(world, person)
    const refresh = () => person.send('GET', `browser/sessions/${id}?force=1`)
    const replies = await Promise.all(Array.from({ length: 1_000 }, refresh))
    const versions = replies.map(({ body }) => body.live_view_version)
    expect(new Set(versions).size).toBe(1_000)
    expect(Math.max(...versions)).toBe(1_001)
  }, 180_000)

  test('a session whose browser cannot be reached has no live view, and one that is not there is not found', async () => {
    const id = await rowOf(world, person)
    const away = await person.send('GET', `browser/sessions/${id}/live`)
    expect({ status: away.status, code: away.body.error.code }).toEqual({ status: 404, code: 'live_view_unavailable' })
    const other = await world.person()
    for (const path of [id, `${id}/live`, `${id}/recording`, BrowserSessionId.create()]) {
      const none = await other.send('GET', `browser/sessions/${path}`)
      expect({ status: none.status, code: none.body.error.code }).toEqual({ status: 404, code: 'session_not_found' })
    }
    const unscoped = await world.person({ scopes: ['completions'] })
    for (const path of ['', `/${id}`, `/${id}/live`, `/${id}/recording`]) {
      const refused = await unscoped.send('GET', `browser/sessions${path}`)
      expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
    }
  })

  test('are read without force as they are', async () => {
    const id = await rowOf(world, person)
    const first = (await person.send('GET', `browser/sessions/${id}`)).body
    const second = (await person.send('GET', `browser/sessions/${id}`)).body
    expect({ first: first.live_view_version, second: second.live_view_version }).toEqual({ first: 1, second: 1 })
    expect(new URL(first.embed_url).pathname).toBe(`/embed/browser/${id}`)
    const [asKey] = [
      await world.send('GET', 'browser/sessions', undefined, {
        authorization: `Bearer ${new URL(first.embed_url).searchParams.get('token')}`,
      }),
    ]
    expect(asKey!.status).toBe(401)
  })
})
