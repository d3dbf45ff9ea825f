import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConfigOverrides, loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { claimPrivate } from '../../src/app/private-file'
import { loadSecrets } from '../../src/app/secrets'
import { seedFirstRun } from '../../src/app/seed'
import { createLog } from '../../src/kernel/log'
import { migrate } from '../../src/kernel/store'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-open-')

const folder = () => join(mkdtempSync(join(root, 'case-')), 'data')
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
const open = (dataDir: string, overrides: ConfigOverrides = {}) =>
  openApp({ config: loadConfig({ dataDir, production: false, ...overrides }), log })

const inDatabase = (dataDir: string, run: (database: Database) => void) => {
  const database = new Database(join(dataDir, 'svc.db'))
  run(database)
  database.close()
}

describe('opening a data folder', () => {
  test('makes it for its owner only, with a migrated database, and finds it again', async () => {
    const dataDir = folder()
    const first = await open(dataDir)
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    expect(first.findings).toMatchObject({ newSecrets: true, newDatabase: true })
    await first.close()
    const again = await open(dataDir)
    expect(again.findings).toMatchObject({ newSecrets: false, newDatabase: false })
    await again.close()
  })

  test('keeps a new database from others even in a folder they can enter', async () => {
    const dataDir = folder()
    mkdirSync(dataDir, { mode: 0o755 })
    const app = await open(dataDir)
    const modes = ['svc.db', 'svc.db-wal', 'svc.db-shm'].map((name) => statSync(join(dataDir, name)).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
    await app.close()
  })

  test.each(['svc.db', 'svc.db-wal'])('takes a %s from others who could read it, as after a copy', async (name) => {
    const dataDir = folder()
    await (await open(dataDir)).close()
    const path = join(dataDir, name)
    writeFileSync(path, '', { flag: 'a' })
    chmodSync(path, 0o644)
    const app = await open(dataDir)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await app.close()
  })

  test('refuses a database whose secrets are lost, and makes new ones only when told to', async () => {
    const dataDir = folder()
    const secrets = join(dataDir, 'secrets.json')
    const app = await open(dataDir)
    await seedFirstRun(app.container, dataDir)
    await app.close()
    rmSync(secrets)
    for (let tried = 0; tried < 2; tried++) {
      await expect(open(dataDir)).rejects.toThrow(`${secrets} is missing, but the database was encrypted with it.`)
      expect(existsSync(secrets)).toBe(false)
    }
    const anew = await openApp({ config: loadConfig({ dataDir, production: false }), log, newSecrets: true })
    expect(anew.findings).toMatchObject({ newSecrets: true, newDatabase: false })
    await anew.close()
    await (await open(dataDir)).close()
  })

  test('refuses a database that was written with other secrets, except to look into it', async () => {
    const dataDir = folder()
    const secrets = join(dataDir, 'secrets.json')
    await (await open(dataDir)).close()
    rmSync(secrets)
    loadSecrets(dataDir)
    await expect(open(dataDir)).rejects.toThrow(`${secrets} is not the file that the database was encrypted with`)
    await (await openApp({ config: loadConfig({ dataDir, production: false }), log, serving: false })).close()
    await expect(open(dataDir)).rejects.toThrow('svc-admin serve --new-secrets')
    await (await openApp({ config: loadConfig({ dataDir, production: false }), log, newSecrets: true })).close()
    await (await open(dataDir)).close()
  })

  test('makes secrets for a database that was only migrated', async () => {
    const dataDir = folder()
    mkdirSync(dataDir, { mode: 0o700 })
    const path = join(dataDir, 'svc.db')
    claimPrivate(path)
    await migrate({ dialect: 'sqlite', path })
    const app = await open(dataDir)
    expect(app.findings).toMatchObject({ newSecrets: true })
    await app.close()
  })

  test('is refused while another process, or this one, has it open', async () => {
    const dataDir = folder()
    const first = await open(dataDir)
    await expect(open(dataDir)).rejects.toThrow(`Another server (pid ${process.pid}) is using ${dataDir}`)
    await first.close()
    await (await open(dataDir)).close()
  })

  test('with `migrate: check` refuses a database that lacks migrations, and touches nothing', async () => {
    const dataDir = folder()
    await expect(open(dataDir, { migrate: 'check' })).rejects.toThrow('Run: svc-admin migrate up')
    await (await open(dataDir)).close()
    await (await open(dataDir, { migrate: 'check' })).close()
  })

  test('refuses the database of another development version in one sentence, and touches nothing', async () => {
    const dataDir = folder()
    await (await open(dataDir)).close()
    inDatabase(dataDir, (database) => database.run("UPDATE __drizzle_migrations SET hash = 'of another build'"))
    const refusal = `The database (${join(dataDir, 'svc.db')}) was made by another development version of svc, and its tables are not this one's. Start the version that made it, or begin anew with another SVC_DATA_DIR; nothing was changed.`
    await expect(open(dataDir)).rejects.toThrow(refusal)
    const env = { PATH: process.env.PATH!, SVC_DATA_DIR: dataDir, SVC_PORT: '0' }
    const started = Bun.spawnSync([process.execPath, 'src/main.ts'], { env })
    expect(started.exitCode).toBe(1)
    expect(started.stderr.toString()).toBe(`error: ${refusal}\n`)
  })

  test('refuses the database of a newer release, and touches nothing (S14)', async () => {
    const dataDir = folder()
    await (await open(dataDir)).close()
    inDatabase(dataDir, (database) =>
      database.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9000000000000)"),
    )
    await expect(open(dataDir)).rejects.toThrow('Start the newer release. Nothing was changed.')
  })

  test('that was refused lets go of the folder', async () => {
    const dataDir = folder()
    for (let tried = 0; tried < 2; tried++) {
      await expect(open(dataDir, { migrate: 'check' })).rejects.toThrow('migrate up')
    }
    await (await open(dataDir)).close()
  })

  test('in production mode says everything that is missing before it serves anyone', async () => {
    const dataDir = join(folder(), 'not-there-yet')
    const refusal = await open(dataDir, { production: true, failpoint: 'after_auth' }).then(
      () => null,
      (error: Error) => error.message,
    )
    expect(refusal).toContain('SVC_PUBLIC_URL')
    expect(refusal).toContain('SVC_FAILPOINT')
    expect(refusal).toContain('built-in engine')
    // No secrets, no database, no folder: nothing to clean up, and nothing migrated.
    expect(existsSync(dataDir)).toBe(false)
  })
})
