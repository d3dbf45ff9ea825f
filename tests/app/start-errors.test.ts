// SQLite only: the data folder is what stops these starts.
import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { createLog } from '../../src/kernel/log'
import { cli } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-unfit-')
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
const opened = (dataDir: string) => openApp({ config: loadConfig({ dataDir, port: 0, production: false }), log })

test('a data folder that is a file is reported', async () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  await expect(opened(file)).rejects.toThrow(`The data folder ${file} is a file`)
  await expect(opened(join(file, 'below'))).rejects.toThrow('is a file, or is below one')
})

test('a damaged database is named with its folder, and how to mend it', async () => {
  const dataDir = join(root, 'damaged')
  await (await opened(dataDir)).close()
  for (const bytes of ['no database at all', new Uint8Array(8_192).fill(7)]) {
    writeFileSync(join(dataDir, 'svc.db'), bytes)
    for (const part of ['-wal', '-shm']) rmSync(join(dataDir, `svc.db${part}`), { force: true })
    await expect(opened(dataDir)).rejects.toThrow(
      `The data folder ${dataDir} contains a damaged database (svc.db). Move it aside`,
    )
  }
})

test('an address to listen on is one: none would be every network', async () => {
  for (const host of ['', '[::1]', 'http://x']) {
    const { exitCode, stderr } = await cli(['serve', '--dry-run', '--host', host, '--data-dir', join(root, 'host')])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('must be an address such as 127.0.0.1')
    expect(() => loadConfig({ configFile: written({ host }) })).toThrow('Address the API listens on')
  }
})

function written(settings: object): string {
  const path = join(root, 'svc.server.json')
  writeFileSync(path, JSON.stringify(settings))
  return path
}
