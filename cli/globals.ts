import { usageFailure } from './failure'
import { FORMATS, type Format, MONITOR_FORMATS, type PrintStyle } from './output/print'
import { TIME_STYLES } from './output/time'
import type { Io } from './shell'
import { choice, duration, type Flags, flag, type Input, list, text, whole } from './words'

/** The flags every command has (docs/operating.md 2.3), in the order help shows them. */
export const GLOBAL_FLAGS = {
  output: {
    ...choice([...FORMATS, ...MONITOR_FORMATS], 'output format of the answer'),
    value: 'FORMAT',
    short: 'o',
    env: 'SVC_OUTPUT',
  },
  json: flag('same as -o json'),
  fields: list('a,b,c', 'columns or JSON members to print; ? lists them'),
  noHeaders: flag('tables and csv without the header row'),
  time: { ...choice(TIME_STYLES, 'how to print times'), env: 'SVC_TIME' },
  quiet: { ...flag('only the result line, without hints'), short: 'q' },
  watch: { ...flag('read again and again; --watch=5s sets the pause, 2s by default'), short: 'w' },
  filter: text('EXPR', 'rows to print, as in the dashboard: failed status:a,b age:>5m name:*x* !y'),
  org: { ...text('ORG', 'act in one org: id, slug or name'), env: 'SVC_ORG' },
  yes: { ...flag('answer yes to a confirmation'), short: 'y' },
  confirm: text('NAME', 'confirm a severe change with the name of what will be deleted'),
  dryRun: flag('print what would change without changing it'),
  exitCode: flag('with --dry-run: exit 10 when there are changes'),
  reason: text('TEXT', 'the reason, for the audit record'),
  idempotencyKey: text('KEY', 'a change with the same key is made only once'),
  timeout: duration('30s', 'how long to wait for the server'),
  retries: whole('N', 'how often to retry a read over --url; 2 by default', { min: 0, max: 10 }),
  noInput: { ...flag('never ask questions'), env: 'SVC_NO_INPUT' },
  color: choice(['auto', 'always', 'never'], 'colour in the output'),
  ascii: flag('only ASCII characters in tables and hints'),
  profile: { ...text('NAME', 'a saved server (see profiles list)'), env: 'SVC_PROFILE' },
  url: { ...text('URL', 'address of a server; the key decides what you can do there'), env: 'SVC_URL' },
  keyFile: { ...text('FILE', 'the file that contains the key for --url'), env: 'SVC_OPERATOR_KEY_FILE' },
  local: flag('open the data folder without a server'),
  socket: text('PATH', 'the operator socket of a running server'),
  config: { ...text('FILE', 'the configuration file; ./svc.server.json by default'), env: 'SVC_CONFIG' },
  dataDir: text('DIR', 'the data folder; the configured one by default'),
  verbose: { ...flag('request ids and timings on stderr'), short: 'v' },
  debug: { ...flag('HTTP lines on stderr, secrets shortened'), env: 'SVC_DEBUG' },
} satisfies Flags

export type Globals = Partial<Input<Record<never, never>, typeof GLOBAL_FLAGS>> & {
  watchEvery?: number
  /** The profile that filled in some of these flags, if any. */
  inProfile?: { name: string; production: boolean }
}

export type Environment = Record<string, string | undefined>

/** The print style, from flags, environment and the kind of stdout. */
export function printStyleOf(globals: Globals, io: Io, now: number): PrintStyle {
  if (globals.json && globals.output && globals.output !== 'json') {
    throw usageFailure(`--json and -o ${globals.output} ask for two formats. Leave one out.`)
  }
  const isPipedWatch = globals.watch === true && !io.outIsTty && ['table', 'jsonl'].includes(formatOf(globals))
  return {
    format: isPipedWatch ? 'jsonl' : formatOf(globals),
    changesOnly: isPipedWatch,
    filter: globals.filter,
    fields: globals.fields ?? null,
    headers: !globals.noHeaders,
    quiet: globals.quiet === true,
    ascii: globals.ascii === true,
    time: globals.time ?? (io.outIsTty ? 'relative' : 'iso'),
    now,
  }
}

export const formatOf = ({ json, output }: Globals): Format => (json ? 'json' : (output ?? 'table'))

/** True if questions are possible: not in CI, not without a terminal, not with `--no-input`. */
export const mayAsk = ({ noInput }: Globals, io: Io, env: Environment): boolean =>
  !noInput && !env.CI && (io.outIsTty || io.errIsTty)

export function usesColor({ color }: Globals, isTty: boolean, env: Environment): boolean {
  if (color === 'always') return true
  if (color === 'never' || env.NO_COLOR) return false
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true
  return isTty && env.TERM !== 'dumb'
}
