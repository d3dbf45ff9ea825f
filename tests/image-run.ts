/**
 * `bun run prove image`: runs the steps of docs/deploy/Dockerfile in a fresh Debian, as root, with chroot in place of a
 * container: stage by stage, then its command as its user, until its health check passes. Needs debootstrap.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const MIRROR = 'http://deb.debian.org/debian'
const HEALTHY_WITHIN_MS = 60_000
/** A chroot has the network of its host; these say how to use it. */
const NETWORK = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs']
/** The Node of this machine, in place of the one of a Node image. */
const NODE = ['/usr/bin/node', '/usr/lib/node_modules/npm']

type Stage = { root: string; folder: string; user: string; env: Record<string, string> }
type Step = { word: string; rest: string }

const scratch = mkdtempSync(join(tmpdir(), 'svc-image-'))
const stages = new Map<string, Stage>()
const mounted: string[] = []
let last: Stage | null = null
let health: string[] = []
let entry: string[] = []
let command: string[] = []

try {
  for (const step of stepsOf(readFileSync(join(ROOT, 'docs/deploy/Dockerfile'), 'utf8'))) await take(step)
  await serve()
} finally {
  for (const folder of mounted) Bun.spawnSync(['umount', folder])
  rmSync(scratch, { recursive: true, force: true })
}

function stepsOf(text: string): Step[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, word, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? []
      return word && rest ? [{ word, rest }] : []
    })
}

async function take({ word, rest }: Step): Promise<void> {
  print(`${word} ${rest}`)
  const stage = last!
  if (word === 'FROM') last = from(rest)
  else if (word === 'WORKDIR') {
    stage.folder = rest
    mkdirSync(join(stage.root, rest), { recursive: true })
  } else if (word === 'RUN') finish(inside(stage, ['sh', '-ec', rest]))
  else if (word === 'COPY') copy(stage, rest)
  else if (word === 'USER') stage.user = rest
  else if (word === 'ENV') for (const pair of rest.split(' ')) stage.env[pair.split('=')[0]!] = pair.split('=')[1]!
  else if (word === 'HEALTHCHECK') health = JSON.parse(rest.slice(rest.indexOf('[')))
  else if (word === 'ENTRYPOINT') entry = JSON.parse(rest)
  else if (word === 'CMD') command = JSON.parse(rest)
  else if (!['VOLUME', 'EXPOSE'].includes(word)) throw new Error(`unknown step: ${word}`)
}

/** `debian:RELEASE-slim`, or `node:VERSION-RELEASE-slim` with this machine's Node. */
function from(rest: string): Stage {
  const [image = '', , name = ''] = rest.split(' ')
  const release = /(\w+)-slim$/.exec(image)![1]!
  const base = join(scratch, release)
  if (!existsSync(base)) finish(['debootstrap', '--variant=minbase', release, base, MIRROR])
  const root = join(scratch, `stage-${stages.size}`)
  finish(['cp', '-a', base, root])
  for (const path of [...NETWORK, ...(image.startsWith('node:') ? NODE : [])])
    cpSync(path, join(root, path), { recursive: true, dereference: true })
  if (image.startsWith('node:'))
    finish(['ln', '-s', '/usr/lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm')])
  for (const [kind, at] of [
    ['proc', 'proc'],
    ['tmpfs', 'dev/shm'],
  ] as const) {
    mkdirSync(join(root, at), { recursive: true })
    finish(['mount', '-t', kind, kind, join(root, at)])
    mounted.push(join(root, at))
  }
  const stage: Stage = { root, folder: '/', user: 'root', env: {} }
  stages.set(name, stage)
  return stage
}

/** What git knows of the repository, or what an earlier stage has. */
function copy(stage: Stage, rest: string): void {
  const [, name, source = '', target = ''] = /^--from=(\w+) (\S+) (\S+)$/.exec(rest) ?? []
  if (name) {
    finish(['cp', '-a', join(stages.get(name)!.root, source), join(stage.root, target)])
    return
  }
  if (rest !== '. .') throw new Error(`unknown copy: ${rest}`)
  const into = join(stage.root, stage.folder)
  finish(['sh', '-c', `git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C ${into}`])
}

/** The arguments that run a command in a stage. */
function inside({ root, folder, user, env }: Stage, words: string[]): string[] {
  const own = { HOME: '/root', NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' }
  const settings = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin', ...own, ...env })
  const script = `cd ${folder} && exec "$@"`
  const as = ['chroot', `--userspec=${user}`, root, 'env', '-i', ...settings.map((pair) => pair.join('='))]
  return [...as, 'sh', '-c', script, 'sh', ...words]
}

function finish(words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: ROOT, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`${words.join(' ')} exited ${exitCode}: ${stderr.toString().slice(-2_000)}`)
}

/** In dev mode, because production mode wants an engine. */
async function serve(): Promise<void> {
  const stage = last!
  const words = [...entry, ...command.map((word) => word.replace('--production', '--dev'))]
  const startedAt = performance.now()
  const server = Bun.spawn(inside(stage, words), { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  try {
    while (Bun.spawnSync(inside(stage, health)).exitCode !== 0) {
      if (performance.now() - startedAt > HEALTHY_WITHIN_MS || server.exitCode !== null)
        throw new Error(`not healthy, exit code ${server.exitCode}`)
      await Bun.sleep(100)
    }
    const bytes = Bun.spawnSync(['du', '-smx', stage.root]).stdout.toString().split('\t')[0]
    print(`healthy after ${Math.round(performance.now() - startedAt)} ms, ${bytes} MB`)
    const checked = Bun.spawnSync(inside(stage, ['/app/svc-admin', 'doctor', 'browser', 'speech', '-o', 'json']))
    print(checked.stdout.toString())
  } finally {
    server.kill('SIGTERM')
    print(`stopped with ${await server.exited}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
