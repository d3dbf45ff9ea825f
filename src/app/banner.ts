import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { EngineService, UpstreamState } from '../engines'
import { clean, counted, wrap } from '../kernel/text'
import { DEV_KEY } from '../kernel/user-folder'
import { originOf } from './config'
import type { RunningApp } from './start'
import { asTyped } from './variables'
import { RELEASE } from './version'

export type BannerFacts = {
  isTty: boolean
  /** Width of the terminal. Lines break between words at this width. */
  columns: number
  startedMs: number
  /** State of the upstreams, checked at start. */
  upstreams: readonly UpstreamState[]
  /** Link that signs the owner of a first start in, once. Null if there is none to show. */
  link: string | null
  /** Messages about environment variables that nothing reads. */
  unknown: readonly string[]
}

/** The text printed at start (docs/operating.md 4.1, 4.2): addresses, folders and, on a first start, the first key. */
export function banner(
  running: RunningApp,
  { isTty, columns, startedMs, upstreams, link, unknown }: BannerFacts,
): string {
  const { app, seed, url, socket, opsUrl } = running
  const { config, container } = app
  const isWrapped = config.masterKey || config.masterKeyFile
  const secretsFile = `${shortPath(config.dataDir)}/secrets.json${app.findings.newSecrets ? ' (new, only you can read it)' : ''}`
  const lines = [
    `svc ${RELEASE}, ${config.production ? 'production' : 'dev mode'}`,
    '',
    ...facts(
      [
        ['config', config.file ? shortPath(config.file) : 'defaults and environment'],
        ['secrets', isWrapped ? 'in the database, wrapped by the master key' : secretsFile],
        ['database', databaseLine(running)],
        ...enginesLines(container.engines, upstreams).map((line, at) => [at ? '' : 'engines', ...line] as Fact),
        ...unknown.map((line, at) => [at ? '' : 'variables', line, 'wrong'] as Fact),
        ...(seed ? [['seed', `org "${seed.org}", key "${DEV_KEY}", credit to try everything`] as Fact] : []),
      ],
      isTty ? columns : Number.POSITIVE_INFINITY,
    ),
    '',
    ...apiLines(url, config),
    `  Operators   ${shortPath(socket)} (svc-admin finds it)`,
    ...(opsUrl ? [`              ${opsUrl} (svc-admin --url, with an operator key)`] : []),
    '',
    ...keyLines(running, isTty),
    `Ready in ${(startedMs / 1000).toFixed(1)} s. Ctrl-C stops the server.`,
    ...pageLines(running, link),
    '',
  ]
  return asTyped(lines.join('\n'))
}

/** The page to open. On a first start, a link that signs the owner in. */
function pageLines({ url, app: { config } }: RunningApp, link: string | null): string[] {
  if (!url || (config.unix && !config.publicUrl)) return []
  if (link) return ['Open the console in a browser. The link signs you in once, within 15 minutes:', `  ${link}`]
  return [
    `Open ${originOf(config, url)} in your browser.`,
    ...(config.production ? [] : ['To sign in there, run svc-admin open console.']),
  ]
}

function apiLines(url: string, { unix, roles }: RunningApp['app']['config']): string[] {
  if (!url) return [`  Roles       ${roles.replaceAll(',', ', ')}; other processes serve the API`]
  const [api, document] = unix
    ? [`socket ${unix}`, `${url}/openapi.json there`]
    : [`${url}/api/v1`, `${url}/openapi.json`]
  return [`  API         ${api}`, `  OpenAPI     ${document}`]
}

/** The path relative to the working directory, unless it lies outside of it. */
function shortPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near && !near.startsWith('..') ? near : path
}

/** Name and state of a part, with `wrong` if the state is a problem. */
type Fact = [string, string] | [string, string, 'wrong']

const MARGIN = ' '.repeat(17)

const facts = (all: Fact[], columns: number): string[] =>
  all.flatMap(([name, fact, wrong]) => {
    const [first = '', ...rest] = wrap(fact, columns - MARGIN.length)
    return [`  ${wrong ? '!!' : 'ok'}  ${name.padEnd(10)} ${first}`, ...rest.map((line) => MARGIN + line)]
  })

function databaseLine({ app: { config, findings } }: RunningApp): string {
  const what = config.databaseUrl ? 'postgres' : `${shortPath(config.dataDir)}/svc.db`
  const took = `${(findings.databaseMs / 1000).toFixed(1)} s`
  const state = findings.newDatabase ? `new, ${counted(findings.migrations, 'migration')}, ${took}` : took
  return `${what} (${state})`
}

const BUILTIN = 'free, instant, not a language model'

/** What answers: each upstream with its address, its models and its state at start. */
function enginesLines(engines: EngineService, upstreams: readonly UpstreamState[]): Line[] {
  // The server itself also draws pictures and videos, so only text modes show whether an engine is missing.
  const texts = engines.mapping().filter(({ makes }) => makes === 'text')
  const builtin = texts.some(({ targets }) => targets.some(({ kind }) => kind === 'builtin'))
  if (!engines.hasModel()) {
    if (!builtin) return [['nothing answers (connect an engine with SVC_ENGINE_BASE_URL)', 'wrong']]
    return [[`built-in engine for all text modes: ${BUILTIN} (connect one with SVC_ENGINE_BASE_URL)`]]
  }
  const connected = upstreams.filter(({ upstream }) => upstream !== 'builtin').map(spellUpstream)
  const others: Line[] = builtin ? [[`built-in engine for the other text modes: ${BUILTIN}`]] : []
  return [...connected, ...others]
}

type Line = [string] | [string, 'wrong']

function spellUpstream({ address, models, latencyMs, problem, unlisted }: UpstreamState): Line {
  const where = clean(`${address}, ${models.length === 1 ? 'model' : 'models'} ${models.join(', ')}`)
  if (problem !== null) return [`${where}: ${problem}`, 'wrong']
  if (unlisted.length) return [clean(`${where}: answers, and lists no ${unlisted.join(', ')}`), 'wrong']
  return [`${where}: answers, ${latencyMs} ms`]
}

function keyLines({ app: { config }, seed, keyless, devKey }: RunningApp, isTty: boolean): string[] {
  if (keyless) return ['No keys exist. Create one: svc-admin keys create --name NAME', '']
  if (devKey) {
    const revoke = `svc-admin keys revoke "${DEV_KEY}" --reason production`
    return [`The key "${DEV_KEY}" of a first run in dev mode works here. Revoke it: ${revoke}`, '']
  }
  if (!seed) {
    const keyFile = join(config.dataDir, 'dev-key')
    return existsSync(keyFile) ? [`Your API key is in ${shortPath(keyFile)}.`, ''] : []
  }
  if (!isTty) return [`First key written to ${shortPath(seed.keyFile)} (mode 0600)`, '']
  return [
    '  Your API key. It is shown only this once:',
    '',
    `      ${seed.key}`,
    '',
    `  A copy is in ${shortPath(seed.keyFile)} for the examples. Delete it when you like.`,
    '',
    '  Next, in a second terminal:',
    '      svc-admin try "Count to five slowly"',
    '',
  ]
}
