import { describe, expect, test } from 'bun:test'
import { assertOrigin, type BrowserHeaders } from '../../../src/accounts'
import type { KeyCaller, SessionCaller } from '../../../src/kernel/caller'
import { keyCaller, sessionCaller } from '../../support/callers'

const request = (headers: Partial<BrowserHeaders> = {}): BrowserHeaders => ({
  method: 'POST',
  authorization: null,
  origin: null,
  fetchSite: null,
  host: 'api.example:3400',
  ...headers,
})
const admits = (caller: KeyCaller | SessionCaller, headers: BrowserHeaders, own: string | null = null) => {
  try {
    assertOrigin(caller, headers, own)
    return 'yes'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe("a key's origins", () => {
  const rows: [string, string[], string | null, string][] = [
    ['let every page in when there are none', [], 'https://any.example', 'yes'],
    ['let a listed page in', ['https://a.example'], 'https://a.example', 'yes'],
    ['let a call without an origin in', ['https://a.example'], null, 'yes'],
    ['keep another page out', ['https://a.example'], 'https://b.example', 'origin_not_allowed'],
    ['keep another port out', ['https://a.example'], 'https://a.example:8443', 'origin_not_allowed'],
    ['keep a subdomain out', ['https://a.example'], 'https://x.a.example', 'origin_not_allowed'],
    ['keep a lookalike out', ['https://a.example'], 'https://a.example.evil.test', 'origin_not_allowed'],
    ['keep another scheme out', ['https://a.example'], 'http://a.example', 'origin_not_allowed'],
    ['keep a name before it out', ['https://a.example'], 'https://evil-a.example', 'origin_not_allowed'],
    ['keep a trailing slash out', ['https://a.example'], 'https://a.example/', 'origin_not_allowed'],
    ['keep capitals out', ['https://a.example'], 'HTTPS://A.EXAMPLE', 'origin_not_allowed'],
    ['keep two origins out', ['https://a.example'], 'https://a.example, https://b.example', 'origin_not_allowed'],
    ['keep a wildcard out', ['https://a.example'], '*', 'origin_not_allowed'],
    ['keep a page without an origin of its own out', ['https://a.example'], 'null', 'origin_not_allowed'],
  ]
  test.each(rows)('%s', (_claim, allowed, origin, verdict) => {
    expect(admits(keyCaller({ allowedOrigins: allowed }), request({ origin, authorization: 'Bearer x' }))).toBe(verdict)
  })
})

describe('a session cookie', () => {
  const rows: [string, Partial<BrowserHeaders>, string][] = [
    ['reads from anywhere', { method: 'GET', origin: 'https://evil.test' }, 'yes'],
    ['changes from a page of this server', { fetchSite: 'same-origin' }, 'yes'],
    ['changes from this host, in a browser that sends no Sec-Fetch-Site', { origin: 'http://api.example:3400' }, 'yes'],
    ['changes from the public address behind a proxy', { origin: 'https://www.example', host: '10.0.0.7' }, 'yes'],
    [
      'changes nothing from another site',
      { fetchSite: 'cross-site', origin: 'https://evil.test' },
      'origin_not_allowed',
    ],
    ['changes nothing from a sister domain', { fetchSite: 'same-site' }, 'origin_not_allowed'],
    ['changes nothing from another origin', { origin: 'https://evil.test' }, 'origin_not_allowed'],
    ['changes nothing from another port', { origin: 'http://api.example:81' }, 'origin_not_allowed'],
    ['lets a program through, which sends neither header', {}, 'yes'],
    ['changes nothing from a page without an origin', { origin: 'null' }, 'origin_not_allowed'],
    [
      'does not stand in the way of a bearer token',
      { authorization: 'Bearer svc_ds_x', origin: 'https://evil.test' },
      'yes',
    ],
  ]
  test.each(rows)('%s', (_claim, headers, verdict) => {
    expect(admits(sessionCaller(), request(headers), 'https://www.example')).toBe(verdict)
  })
})
