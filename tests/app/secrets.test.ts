import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSecrets } from '../../src/app/secrets'
import { ConfigError } from '../../src/kernel/config'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-secrets-')

const folder = () => mkdtempSync(join(root, 'data-'))

describe('the secrets of a data folder', () => {
  test('are made once, for their owner only, and read back the same', () => {
    const dataDir = folder()
    const made = loadSecrets(dataDir)
    expect(made.isNew).toBe(true)
    expect(made.masterKey).toHaveLength(32)
    expect(statSync(made.path).mode & 0o777).toBe(0o600)

    const again = loadSecrets(dataDir)
    expect(again.isNew).toBe(false)
    expect(Buffer.from(again.masterKey)).toEqual(Buffer.from(made.masterKey))
  })

  test('hold the key that signs the record; a folder older than it gets one, and keeps everything else', () => {
    const dataDir = folder()
    const { auditKey, path } = loadSecrets(dataDir)
    expect(loadSecrets(dataDir).auditKey.publicKey).toBe(auditKey.publicKey)
    const { audit_key: _, ...older } = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...older, kept: 'as it was' }))
    const upgraded = loadSecrets(dataDir)
    expect(upgraded.isNew).toBe(false)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ ...older, kept: 'as it was' })
    expect(loadSecrets(dataDir).auditKey.publicKey).toBe(upgraded.auditKey.publicKey)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('with a broken signing key stop the start: checkpoints that were kept name the old one', () => {
    const dataDir = folder()
    const { path } = loadSecrets(dataDir)
    const broken = JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), audit_key: 'AAAA' })
    writeFileSync(path, broken)
    expect(() => loadSecrets(dataDir)).toThrow(/is not an Ed25519 key/)
    expect(readFileSync(path, 'utf8')).toBe(broken)
  })

  test('differ from folder to folder', () => {
    expect(loadSecrets(folder()).masterKey).not.toEqual(loadSecrets(folder()).masterKey)
  })

  test('survive a crash while they are written: a draft left behind is not taken for them', () => {
    const dataDir = folder()
    writeFileSync(join(dataDir, 'secrets.json.new'), '{"version":1,"mas')
    expect(loadSecrets(dataDir).isNew).toBe(true)
    expect(existsSync(join(dataDir, 'secrets.json.new'))).toBe(false)
    expect(JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).version).toBe(1)
  })

  test.each([0o640, 0o604, 0o666])(
    'that others can read (mode %o) stop the start, with the command that mends it',
    (mode) => {
      const dataDir = folder()
      const { path } = loadSecrets(dataDir)
      chmodSync(path, mode)
      expect(() => loadSecrets(dataDir)).toThrow(
        new ConfigError([`${path} can be read by other users (mode ${mode.toString(8)}). Run: chmod 600 ${path}`]),
      )
    },
  )

  test.each([
    ['no key', '{"version":1}'],
    ['a short key', '{"version":1,"master_key":"c2hvcnQ="}'],
    ['no JSON', 'not json'],
  ])('with %s stop the start: they are restored, never made anew over the old', (_, text) => {
    const dataDir = folder()
    const { path } = loadSecrets(dataDir)
    writeFileSync(path, text)
    expect(() => loadSecrets(dataDir)).toThrow(/contains no master key of 32 bytes/)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})
