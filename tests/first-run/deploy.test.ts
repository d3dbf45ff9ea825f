import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/free-port'
import { hasRedis, startRedis } from '../support/redis'
import { startServerProcess } from '../support/server-process'
import { postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'
import { type Clone, cloneRepository } from './clone'

const PATIENCE_MS = 180_000
const FOLDER = 'docs/deploy'
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')
const program = (name: string): string | null => Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin` })

/** A block of the page, without the spaces of its list. */
function blockOf(mark: string): string {
  const [, indent = '', block] =
    new RegExp(`^( *)\`\`\`sh ${mark}\n([\\s\\S]*?)^ *\`\`\``, 'm').exec(read('README.md')) ?? []
  if (block === undefined) throw new Error(`${FOLDER}/README.md has no block ${mark}`)
  return block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

const cleanUp: (() => unknown)[] = []
afterAll(async () => {
  for (const each of cleanUp.reverse()) await each()
})

const haproxy = program('haproxy')
const lacking = [
  ...(postgresUrl ? [] : ['SVC_TEST_POSTGRES_URL is not set']),
  ...(haproxy ? [] : ['haproxy is not installed']),
  ...(program('psql') ? [] : ['psql is not installed']),
  ...(hasRedis('the cluster of docs/deploy') ? [] : ['redis-server is not installed']),
]
if (lacking.length) process.stdout.write(`NOT RUN: the cluster of docs/deploy, because ${lacking.join(' and ')}.\n`)

test.skipIf(lacking.length > 0)(
  'two nodes behind a proxy come up as typed, answer, are sound, and one of them is upgraded',
  async () => {
    const [redis, clone] = [await startRedis(), await cloneRepository()]
    const name = `svc_deployed_${process.pid}`
    const database = Object.assign(new URL(postgresUrl!), { username: name, password: 'PASSWORD', pathname: name })
    const asPostgres = async (...words: string[]) => clone.type(`psql ${postgresUrl} ${words.join(' ')}`)
    cleanUp.push(
      () => clone.remove(),
      () => redis.stop(),
      () => asPostgres(`-c 'DROP DATABASE IF EXISTS ${name} WITH (FORCE)'`, `-c 'DROP ROLE IF EXISTS ${name}'`),
    )
    const ports: Record<string, number> = {}
    for (const each of ['3401', '3402', '8080']) ports[each] = await freePort()
    const here = (text: string) => text.replaceAll(/3401|3402|8080/g, (port) => String(ports[port]))
    const settings = here(blockOf('file=svc.env'))
      .replace(/(?<=SVC_DATABASE_URL=).*/, database.href)
      .replace(/(?<=SVC_REDIS_URL=).*/, redis.url)
    await Bun.write(clone.path('svc.env'), settings)
    await Bun.write(clone.path(FOLDER, 'haproxy.cfg'), here(read('haproxy.cfg')))
    cleanUp.push(() => stopAll(clone))

    const type = async (name: string) => {
      const { exitCode, stdout, stderr } = await clone.type(`PATH=$PATH:/usr/sbin\n${here(blockOf(`run=${name}`))}`)
      expect({ name, exitCode, stderr: exitCode ? stderr : '' }).toEqual({ name, exitCode: 0, stderr: '' })
      return stdout
    }
    const made = blockOf('run=database')
      .replace('sudo -u postgres psql', '')
      .replaceAll(/\bsvc\b/g, name)
    expect(await asPostgres(made)).toMatchObject({ exitCode: 0 })
    await type('master-key')
    await type('first-node')
    await type('second-node')
    expect(await type('proxy')).toContain('391')
    const sound = await type('check-cluster')
    expect(sound.match(/ serving /g)).toHaveLength(2)
    expect(sound.match(/^(redis|jobs|clock) +ok /gm)).toHaveLength(3)
    expect(await type('drain')).toMatch(/empty/)
    expect(await type('second-node')).toContain('"status":')
    expect((await type('check-cluster')).match(/ serving /g)).toHaveLength(2)
  },
  PATIENCE_MS,
)

async function stopAll(clone: Clone): Promise<void> {
  const listed = Bun.spawnSync(['pgrep', '-f', `${clone.folder}/`])
    .stdout.toString()
    .split('\n')
    .filter(Boolean)
  const proxy = clone.path('haproxy.pid')
  for (const pid of [...listed, ...(existsSync(proxy) ? [readFileSync(proxy, 'utf8')] : [])])
    process.kill(Number(pid), 'SIGKILL')
}

const analyze = program('systemd-analyze')
if (!analyze) process.stdout.write('NOT RUN: the check of docs/deploy/svc.service: systemd-analyze is not installed.\n')

test.skipIf(!analyze)('the systemd unit is sound, and is not rated as exposed', async () => {
  const clone = await cloneRepository()
  cleanUp.push(() => clone.remove())
  const unit = clone.path('svc.service')
  await Bun.write(unit, read('svc.service').replace('/opt/svc/', `${clone.folder}/`))
  const verified = Bun.spawnSync([analyze!, 'verify', '--man=no', unit])
  expect({ exitCode: verified.exitCode, said: verified.stderr.toString() }).toEqual({ exitCode: 0, said: '' })
  const rated = Bun.spawnSync([analyze!, 'security', '--offline=true', '--threshold=45', unit])
  expect(rated.exitCode, rated.stdout.toString().slice(-200)).toBe(0)
})

test('a server in production starts with the settings that the page writes', async () => {
  const written = [...read('README.md').matchAll(/<<END\n([\s\S]*?)^END$/gm)].map(([, lines]) => lines!)
  expect(written).toHaveLength(2)
  const command = [process.execPath, 'cli/main.ts', 'serve', '--production']
  for (const lines of written) {
    const env = Object.fromEntries(
      [...lines.matchAll(/^(SVC_(?:PUBLIC|ENGINE)_\w+)=(.*)$/gm)].map((line) => line.slice(1)),
    )
    const server = await startServerProcess({ dataDir: temporaryFolder('svc-deployed-'), env, command })
    expect(await server.stop()).toBe(0)
  }
})

test.skipIf(!haproxy)('the proxy takes its settings, with the nodes of the compose file too', () => {
  const { services } = Bun.YAML.parse(read('compose.yml')) as { services: Record<string, object> }
  expect(Object.keys(services).sort()).toEqual(['node-1', 'node-2', 'postgres', 'proxy', 'redis'])
  const named = (services.proxy as { environment: Record<string, string> }).environment
  const local = Object.entries(named).map(([name, value]) => [name, value.replace(/^node-\d/, '127.0.0.1')])
  for (const env of [{}, Object.fromEntries(local)]) {
    const { exitCode, stderr } = Bun.spawnSync([haproxy!, '-c', '-f', `${FOLDER}/haproxy.cfg`], { env })
    expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: '' })
  }
})
