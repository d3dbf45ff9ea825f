import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfigOverrides, loadConfig } from '../../src/app/config'
import { type RunningApp, start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { selfSigned } from '../support/certificate'

const folder = mkdtempSync(join(tmpdir(), 'svc-remote-'))
const running: RunningApp[] = []
afterAll(async () => {
  for (const app of running) await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

let count = 0
async function startWith(overrides: ConfigOverrides): Promise<RunningApp> {
  const config = loadConfig({ dataDir: join(folder, `data${++count}`), port: 0, ...overrides })
  const app = await start({ config, log: createLog({ level: 'error', pretty: false, write: () => undefined }) })
  running.push(app)
  return app
}

async function operatorKey({ socket }: RunningApp): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify({ name: 'remote', role: 'viewer' }), unix: socket }
  const headers = { 'content-type': 'application/json' }
  const made = await fetch('http://localhost/ops/v1/operators', { ...init, headers } as RequestInit)
  return ((await made.json()) as { key: string }).key
}

const status = (url: string, key: string | null, init: object = {}) =>
  fetch(`${url}/ops/v1/status`, { headers: key ? { authorization: `Bearer ${key}` } : {}, ...init })

describe('SVC_OPS_LISTEN', () => {
  test('unset serves operators on the socket only', async () => {
    expect((await startWith({})).opsUrl).toBeNull()
  })

  test('on loopback serves the API on a port of its own, by key', async () => {
    const app = await startWith({ opsListen: '127.0.0.1:0' })
    expect(app.opsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(app.opsUrl).not.toBe(app.url)
    const key = await operatorKey(app)
    expect((await status(app.opsUrl!, key)).status).toBe(200)
    expect((await status(app.opsUrl!, null)).status).toBe(401)
    expect((await status(app.url, key)).status).toBe(404)
    expect((await fetch(`${app.opsUrl}/api/v1/health`)).status).toBe(401)
    await app.stop()
    await expect(status(app.opsUrl!, key)).rejects.toThrow()
  })

  test('with a certificate speaks TLS and nothing else', async () => {
    const { cert, key: privateKey } = selfSigned()
    const [opsTlsCert, opsTlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    writeFileSync(opsTlsCert, cert)
    writeFileSync(opsTlsKey, privateKey, { mode: 0o600 })
    const app = await startWith({ opsListen: '127.0.0.1:0', opsTlsCert, opsTlsKey })
    expect(app.opsUrl).toStartWith('https://127.0.0.1:')
    const key = await operatorKey(app)
    expect((await status(app.opsUrl!, key, { tls: { ca: cert } })).status).toBe(200)
    await expect(status(app.opsUrl!, key)).rejects.toThrow()
    await expect(status(app.opsUrl!.replace('https', 'http'), key)).rejects.toThrow()
  })

  const refusals: [string, ConfigOverrides, string][] = [
    ['every address without a certificate', { opsListen: '0.0.0.0:0' }, 'is not a loopback address'],
    ['a private address without a certificate', { opsListen: '10.1.2.3:3401' }, 'is not a loopback address'],
    ['a host name without a certificate', { opsListen: 'ops.internal:3401' }, 'is not a loopback address'],
    ['every IPv6 address without a certificate', { opsListen: '[::]:3401' }, 'is not a loopback address'],
    ['a name that only begins like loopback', { opsListen: '127.0.0.1.example:1' }, 'is not a loopback address'],
    ['a port beyond the last', { opsListen: '127.0.0.1:70000' }, 'no port between'],
    ['a certificate without its key', { opsListen: '127.0.0.1:0', opsTlsCert: '/x' }, 'One of them is missing'],
    [
      'a certificate that is not there',
      { opsListen: '127.0.0.1:0', opsTlsCert: '/nowhere/cert.pem', opsTlsKey: '/nowhere/key.pem' },
      'cannot be read (ENOENT)',
    ],
  ]
  test.each(refusals)('does not start on %s', async (_what, overrides, words) => {
    await expect(startWith(overrides)).rejects.toThrow(words)
  })

  test('does not start on a port that is taken, and leaves nothing behind', async () => {
    const first = await startWith({ opsListen: '127.0.0.1:0' })
    const dataDir = join(folder, 'taken')
    const opsListen = new URL(first.opsUrl!).host
    await expect(startWith({ dataDir, opsListen })).rejects.toThrow('is used by another program')
    expect(existsSync(dataDir)).toBe(false)
    await startWith({ dataDir, opsListen: '127.0.0.1:0' })
  })
})
