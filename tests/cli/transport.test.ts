import { describe, expect, test } from 'bun:test'
import { chooseTransport, readUrl } from '../../cli/transport'

const SOCKET = '/data/ops.sock'

const choose = (globals: object, { up = true, env = {} }: { up?: boolean; env?: Record<string, string> } = {}) =>
  chooseTransport({ globals, env, socketPath: SOCKET, answers: () => up })

describe('the way to a server', () => {
  test.each([
    ['a running server over its socket', {}, { up: true }, { kind: 'socket', path: SOCKET }],
    ['the data itself when none runs', {}, { up: false }, { kind: 'local' }],
    ['the data itself with --local', { local: true }, { up: true }, { kind: 'local', why: '--local' }],
    ['a named socket', { socket: '/other.sock' }, { up: true }, { kind: 'socket', path: '/other.sock' }],
    [
      'another server with --url',
      { url: 'https://svc.example' },
      {},
      { kind: 'remote', url: 'https://svc.example', why: '--url' },
    ],
    [
      'another server with SVC_URL',
      { url: 'https://svc.example' },
      { env: { SVC_URL: 'https://svc.example' } },
      { kind: 'remote', why: 'SVC_URL' },
    ],
    [
      'the data itself, though SVC_URL is set, when --local says so',
      { local: true, url: 'https://svc.example' },
      { env: { SVC_URL: 'https://svc.example' } },
      { kind: 'local' },
    ],
  ] as const)('is %s', async (_claim, globals, surroundings, transport) => {
    expect(await choose(globals, surroundings)).toMatchObject(transport)
  })

  test('is refused when two flags name two servers', async () => {
    expect(choose({ local: true, url: 'https://svc.example' })).rejects.toMatchObject({ exitCode: 2 })
  })

  test('is refused when nothing listens on the socket that was named', async () => {
    expect(choose({ socket: '/gone.sock' }, { up: false })).rejects.toMatchObject({ exitCode: 7 })
  })
})

describe('--url', () => {
  test.each([
    ['https://svc.example/', 'https://svc.example'],
    ['http://127.0.0.1:3400/api/v1', 'http://127.0.0.1:3400'],
    ['http://localhost:3400', 'http://localhost:3400'],
    ['http://[::1]:3400', 'http://[::1]:3400'],
  ])('%s is the origin %s', (word, origin) => {
    expect(readUrl(word)).toBe(origin)
  })

  test.each([
    'http://svc.example',
    'http://127.0.0.1.svc.example',
    'ftp://svc.example',
    'svc.example',
    'https://user:password@svc.example',
  ])('%s is refused', (word) => {
    expect(() => readUrl(word)).toThrow(expect.objectContaining({ exitCode: 2 }))
  })
})
