import { writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { didYouMean } from '../../src/kernel/nearest'
import { clean, commandsAsTyped, counted, wrap } from '../../src/kernel/text'
import { columnsOf, commandsOf } from '../command'
import { type Context, elsewhere, type Result, runChecks } from '../doctor/check'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { overridesOf, settingsOf } from '../settings'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { flag, list, text, words } from '../words'

const command = commandsOf('', { apis: ['operator', 'host'], exits: [] })
const browserCommand = commandsOf('browser', { apis: ['host'], exits: [] })

/** Number of newest requests in the report. */
const MAX_LINES = 500

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** State names of monitoring systems. The exit code for their plug-ins is the index in this list. */
const STATES = ['OK', 'WARNING', 'CRITICAL'] as const
const LEVELS = { ok: 0, skip: 0, warn: 1, fail: 2 } as const

const columns = columnsOf`check CHECK, status RESULT, detail EVIDENCE, fix FIX, ms MS number wide`

export const doctor =
  command`doctor (writes, watchable, exits 1 9): Check this machine and server, and explain how to fix problems
  Each check prints ok, warn, fail or skip, what it found, and one command that fixes it. Exits 9 when a check fails; warnings do not count. The names of checks never change, so a monitor can rely on the JSON. -o prometheus and -o nagios are also stable; nagios exits 1 for warnings and 2 for failures. --fix repairs what it can: file modes, migrations and a missing backup. --bundle writes a report for support, without secrets.
  $ doctor
  $ doctor database engines
  $ doctor --skip backups --json
  $ doctor -o nagios
  $ doctor --bundle report.tgz`({
    columns,
    formats: ['nagios', 'prometheus'],
    args: { checks: words('names of checks; all by default') },
    flags: {
      only: list('a,b', 'only these checks'),
      skip: list('a,b', 'leave these checks out'),
      fix: flag('fix what can be fixed safely; asks first'),
      bundle: text('FILE', 'also write a report for support, as .tgz'),
    },
    async run(shell, { checks, only, skip, fix, bundle }) {
      const { CHECKS } = await import('../doctor')
      const names = CHECKS.map(({ name }) => name)
      const chosen = [...checks, ...(only ?? [])]
      const wrong = [...chosen, ...(skip ?? [])].find((name) => !names.includes(name))
      if (wrong !== undefined)
        throw usageFailure(`There is no check "${wrong}".${didYouMean(wrong, names)} Checks: ${names.join(', ')}.`)
      const wanted = names.filter((name) => (!chosen.length || chosen.includes(name)) && !skip?.includes(name))
      // Also runs the checks that the chosen ones depend on, so that their results are valid, but does not show them.
      const all = shell.globals.url ? elsewhere(CHECKS) : CHECKS
      const look = async () => {
        const context = await contextOf(shell)
        return { context, shown: (await runChecks(all, context)).filter(({ check }) => wanted.includes(check)) }
      }
      let { context, shown } = await look()
      if (fix && (await repaired(shell, context, shown))) ({ context, shown } = await look())
      if (bundle) await writeReport(context, shown, bundle)
      const format = formatOf(shell.globals)
      if (format !== 'nagios' && format !== 'prometheus') return show(shell, shown)
      const { lines, code } = nagiosOf(shown)
      for (const line of format === 'nagios' ? lines : prometheusOf(shown)) shell.io.out(line)
      // Nagios expects its own exit codes: 0, 1 for a warning, 2 for a failure.
      if (format === 'nagios') shell.exitCode = code
      else if (code === 2) throw new CheckFailed()
    },
  })

/** Tests the browser of this machine by starting it (docs/operating.md 2.15). */
export const browserDoctor = browserCommand`doctor (exits 9): Test the browser of this machine for sessions
  Finds Chromium as the server does, starts it, renders a page and measures the time. Shows whether the sandbox works and which scripts have no font. Does not need a server. Exits 9 when a check fails.
  $ browser doctor`({
  columns,
  async run(shell) {
    const [{ browserChecks }, { loadConfig }] = await Promise.all([
      import('../doctor/browser'),
      import('../../src/app/config'),
    ])
    const context = { shell, config: () => loadConfig(overridesOf(shell)), connect: () => shell.connect() }
    show(shell, await runChecks(browserChecks(), context))
  },
})

/** @throws CheckFailed when a check failed */
function show(shell: Shell, results: readonly Result[]): void {
  if (formatOf(shell.globals) === 'table') draw(shell, results)
  else shell.print.list(results, columns, 'No checks.')
  if (results.some(({ status }) => status === 'fail')) throw new CheckFailed()
}

/** Asks for confirmation and runs the possible repairs. Returns whether anything was repaired. */
async function repaired(shell: Shell, { repairs }: Context, shown: readonly Result[]): Promise<boolean> {
  const found = shown.flatMap(({ check, fix }) => {
    const repair = repairs?.get(check)
    return repair ? [{ check, fix, repair }] : []
  })
  if (!found.length) shell.note('There is nothing that doctor can fix by itself.')
  if (!found.length || shell.planned(`run ${found.map(({ fix }) => fix).join(', ')}`)) return false
  for (const { check, fix } of found) shell.note(`${check}: ${fix}`)
  shell.confirm(`Run ${found.length === 1 ? 'this' : `these ${found.length}`}?`)
  for (const { repair } of found) await repair()
  return true
}

async function contextOf(shell: Shell): Promise<Context> {
  const { loadConfig } = await import('../../src/app/config')
  const { globals } = shell
  const socket = globals.socket && resolve(globals.socket)
  // Checks that need the server report if it does not answer.
  const named = socket ? await statusOver(shell).catch(() => null) : null
  const dataDir = named?.data_dir ?? (socket && basename(socket) === 'ops.sock' ? dirname(socket) : null)
  if (socket && formatOf(globals) === 'table')
    shell.io.out(
      clean(`The server at ${socket}${dataDir ? `, data folder ${dataDir}` : ''}. Settings are those of this shell.\n`),
    )
  return {
    shell,
    config: () => ({ ...loadConfig(overridesOf(shell)), ...(dataDir ? { dataDir } : {}) }),
    connect: () => shell.connect(),
    named,
    repairs: new Map(),
  }
}

const statusOver = async (shell: Shell) => expectData(await (await shell.connect()).ops().status.get())

const TONES = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'dim' } as const

/** Prints no table, because the evidence may be long. The fix is on its own line, ready to paste. */
export function draw({ io, paint, note, globals, env }: Shell, results: readonly Result[]): void {
  const width = Math.max(0, ...results.map(({ check }) => check.length))
  const indent = ' '.repeat(width + 8)
  for (const { check, status, detail, fix } of results) {
    if (globals.quiet && status === 'ok') continue
    const [first = '', ...more] = io.width
      ? wrap(clean(detail), Math.max(30, io.width - indent.length))
      : [clean(detail)]
    io.out(`${check.padEnd(width)}  ${paint(TONES[status], status.padEnd(4))}  ${first}`)
    for (const line of more) io.out(`${indent}${line}`)
    if (fix) io.out(`${indent}fix: ${commandsAsTyped(clean(fix), env)}`)
  }
  const count = (status: Result['status']) => results.filter((result) => result.status === status).length
  if (count('fail') || count('warn')) note(`\n${count('fail')} failed, ${counted(count('warn'), 'warning')}`)
}

/** One line for Nagios-compatible monitors, then evidence for each problem. `code` is the expected exit code. */
export function nagiosOf(results: readonly Result[]): { lines: string[]; code: 0 | 1 | 2 } {
  const code = Math.max(0, ...results.map(({ status }) => LEVELS[status])) as 0 | 1 | 2
  const count = (status: Result['status']) => results.filter((one) => one.status === status).length
  const wrong = results.filter(({ status }) => LEVELS[status] > 0)
  const counts = (['ok', 'warn', 'fail', 'skip'] as const).map((status) => `${status}=${count(status)}`)
  const named = wrong.length ? wrong.map(({ check }) => check).join(', ') : `${count('ok')} checks`
  // A bar separates text from performance data, so it must not appear in the text.
  const evidence = wrong.map(({ check, status, detail }) => `${check} ${status}: ${detail.replaceAll('|', '/')}`)
  return { lines: [`SVC ${STATES[code]} - ${named} | ${counts.join(' ')}`, ...evidence].map(clean), code }
}

/** Gauges for a textfile collector: 0 is ok, 1 warn, 2 fail. Skipped checks have no gauge. */
export function prometheusOf(results: readonly Result[]): string[] {
  const ran = results.filter(({ status }) => status !== 'skip')
  return [
    '# HELP svc_doctor_status Result of a svc-admin doctor check: 0 ok, 1 warn, 2 fail.',
    '# TYPE svc_doctor_status gauge',
    ...ran.map(({ check, status }) => `svc_doctor_status{check="${check}"} ${LEVELS[status]}`),
    '# HELP svc_doctor_seconds Duration of the check.',
    '# TYPE svc_doctor_seconds gauge',
    ...ran.map(({ check, ms }) => `svc_doctor_seconds{check="${check}"} ${ms / 1000}`),
  ]
}

/**
 * Writes a packed archive for a person who helps, and first lists its content (docs/operating.md 2.19): the checks,
 * versions, settings without secrets, and the newest requests without their bodies.
 */
async function writeReport(context: Context, results: readonly Result[], out: string): Promise<void> {
  const { shell } = context
  const files: Record<string, string> = {
    'doctor.json': json(results),
    'versions.json': json({ bun: Bun.version, platform: `${process.platform}-${process.arch}` }),
  }
  const attempts: Record<string, () => Promise<unknown>> = {
    'settings.json': () => settingsOf(shell),
    'status.json': () => statusOver(shell),
    'requests.json': async () => {
      const { topics } = expectData(await (await context.connect()).ops().snapshot.get({ query: { topics: 'logs' } }))
      return topics.flatMap(({ rows }) => rows as unknown[]).slice(0, MAX_LINES)
    },
  }
  for (const [name, attempt] of Object.entries(attempts)) {
    files[name] = json(await attempt().catch((error: Error) => ({ not_there: error.message })))
  }
  for (const [name, text] of Object.entries(files)) shell.note(`  ${name}  ${text.length} characters`)
  const packed = await new Bun.Archive(files, { compress: 'gzip' }).bytes()
  writeFileSync(fromHere(shell.cwd, out), packed, { mode: 0o600 })
  shell.note(`Written to ${out}. Read it before you send it.`)
}
