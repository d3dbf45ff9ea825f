/**
 * Makes the fixtures of a release: a data folder on SQLite and one with a dump of Postgres, filled by the release
 * itself and with what it answered, so that every later release shows that it opens them.
 *
 *     bun run make fixture [TREE]    # TREE: a checkout of the release with its packages; this one by default
 *
 * Its migrations are released with it: their hashes go to `drizzle/released.sha256`.
 */
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { sha256Hex } from '../../src/kernel/crypto'
import { findPostgres } from '../run/postgres'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { createPostgresDatabase } from '../support/store'
import { type Answers, clientOf, sameIn } from './client'
import { fill } from './fill'

/** What a fixture says of itself. */
export type Made = { at: number; keys: Record<string, string>; answers: Record<string, Answers> }

const ROOT = join(import.meta.dir, '../..')
/** Long enough for what tells of the moment to differ. */
const MOMENT_MS = 3_000

if (import.meta.main) {
  const tree = resolve(process.argv[2] ?? ROOT)
  const name = git(tree, ['log', '-1', '--format=%cd-%h', '--date=format:%Y%m%d', '--abbrev=8'])
  const postgres = await findPostgres()
  if ('missing' in postgres) throw new Error(postgres.missing)
  try {
    await make(tree, `${name}.sqlite`, null)
    const database = await createPostgresDatabase(postgres.url)
    await make(tree, `${name}.postgres`, database.url)
    await database.drop()
  } finally {
    await postgres.stop()
  }
  release(tree)
}

async function make(cwd: string, name: string, url: string | null): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-release-'))
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const env = {
    SVC_SIGNUP: 'open',
    SVC_EGRESS_ALLOW: '127.0.0.1/32',
    // So that calls move money.
    SVC_PRICES: JSON.stringify({ default: { promptPer1k: 1_000_000, completionPer1k: 2_000_000 } }),
    ...(url ? { SVC_DATABASE_URL: url } : {}),
  }
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => new Response('', { status: request.url.endsWith('/refused') ? 500 : 200 }),
  })
  try {
    const first = await startServerProcess({ dataDir, cwd, env })
    const keys = await fill(clientOf(first.url, dataDir), devKeyOf(dataDir), receiver.url.origin)
    // At its end it signs checkpoints of the record.
    await first.stop()
    receiver.stop(true)
    const before = await look(dataDir, cwd, env, keys)
    await Bun.sleep(MOMENT_MS)
    // Another process on another port, so that only what lasts is the same.
    const made: Made = { at: Date.now(), keys, answers: sameIn(before, await look(dataDir, cwd, env, keys)) }
    if (url) run(folder, ['pg_dump', '--format=custom', '--no-owner', '--file=svc.dump', url])
    await Bun.write(join(folder, 'made.json'), JSON.stringify(made))
    for (const gone of ['ops.sock', 'server.lock']) rmSync(join(dataDir, gone), { force: true })
    const target = join(import.meta.dir, 'fixtures', `${name}.tgz`)
    run(folder, ['tar', '--owner=0', '--group=0', '-czf', target, ...readdirSync(folder)])
    const count = Object.values(made.answers).reduce((sum, answers) => sum + Object.keys(answers).length, 0)
    process.stdout.write(`${target}: ${count} answers\n`)
  } finally {
    receiver.stop(true)
    rmSync(folder, { recursive: true })
  }
}

/** What a server on the folder answers to each key. */
async function look(dataDir: string, cwd: string, env: Record<string, string>, keys: Record<string, string>) {
  const server = await startServerProcess({ dataDir, cwd, env })
  const client = clientOf(server.url, dataDir)
  const found: Made['answers'] = {}
  for (const [name, key] of Object.entries(keys)) found[name] = await client.everything(key)
  await server.stop()
  return found
}

/** From now on the migrations of the release may not change. */
function release(tree: string): void {
  const list = join(ROOT, 'drizzle/released.sha256')
  const known = readFileSync(list, 'utf8')
  for (const dialect of ['sqlite', 'postgres']) {
    for (const file of readdirSync(join(tree, 'drizzle', dialect))
      .filter((one) => /^\d.*\.sql$/.test(one))
      .sort()) {
      if (known.includes(`  ${dialect}/${file}\n`)) continue
      appendFileSync(list, `${sha256Hex(readFileSync(join(tree, 'drizzle', dialect, file)))}  ${dialect}/${file}\n`)
    }
  }
}

function git(cwd: string, args: string[]): string {
  return run(cwd, ['git', ...args]).trim()
}

export function run(cwd: string, command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd })
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr}`)
  return stdout.toString()
}
