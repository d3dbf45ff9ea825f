import type { Config } from '../../src/app/config'
import { withoutUserInfo } from '../../src/kernel/text'
import type { Status } from '../../src/operators/status-schema'
import type { Shell } from '../shell'
import type { Connection } from '../transport'

export type Finding = {
  status: 'ok' | 'warn' | 'fail' | 'skip'
  /** The evidence, in one sentence. */
  detail: string
  /** One command that fixes the problem. */
  fix?: string
  /** Runs that command. Present only if doctor can do so safely (`--fix`). */
  repair?(): void | Promise<void>
}

export type Check = {
  /** Stable, because monitoring depends on it. */
  name: string
  /** Checks this one depends on. If one of them fails, this one is skipped rather than failed. */
  needs: readonly string[]
  /** True if the check needs only the server, so that the server may be on another machine. */
  asksServer?: boolean
  run(context: Context): Promise<Finding>
}

/** State the checks share. An earlier check sets each part. */
export type Context = {
  shell: Shell
  config(): Config
  connect(): Promise<Connection>
  /** The status of the server at `--socket`. Null if none is given or it does not answer. */
  named?: Status | null
  /** The repairs for `--fix`, by the check that found the problem. */
  repairs?: Map<string, NonNullable<Finding['repair']>>
}

export type Result = { check: string; status: Finding['status']; detail: string; fix: string | null; ms: number }

export const ok = (detail: string): Finding => ({ status: 'ok', detail })
export const warn = (detail: string, fix?: string): Finding => ({ status: 'warn', detail, ...(fix ? { fix } : {}) })
export const fail = (detail: string, fix?: string): Finding => ({ status: 'fail', detail, ...(fix ? { fix } : {}) })
/** The same finding, with a repair that doctor can run. */
export const repairable = (finding: Finding, repair: NonNullable<Finding['repair']>): Finding => ({
  ...finding,
  repair,
})

export const skip = (detail: string): Finding => ({ status: 'skip', detail })

/** A check of this machine. */
export const hostCheck = (name: string, needs: readonly string[], run: Check['run']): Check => ({ name, needs, run })

/** A check that needs only the server, once the database has passed. */
export const serverCheck = (name: string, run: Check['run'], needs = ['database']): Check => ({
  name,
  needs,
  asksServer: true,
  run,
})

/** Runs checks concurrently, each after its dependencies. Returns them in the given order (docs/operating.md 2.19). */
export async function runChecks(checks: readonly Check[], context: Context): Promise<Result[]> {
  const running = new Map<string, Promise<Result>>()
  for (const check of checks) running.set(check.name, runOne(check, context, running))
  return Promise.all(running.values())
}

async function runOne(check: Check, context: Context, running: ReadonlyMap<string, Promise<Result>>): Promise<Result> {
  const before = await Promise.all(check.needs.flatMap((name) => running.get(name) ?? []))
  const broken = before.find(({ status }) => status === 'fail' || status === 'skip')
  const { clock } = context.shell
  const began = clock.monotonic()
  const { status, detail, fix, repair } = broken
    ? skip(`needs ${broken.check}`)
    : await Promise.try(() => check.run(context)).catch(({ message, fix }) => fail(message, fix))
  if (repair) context.repairs?.set(check.name, repair)
  return {
    check: check.name,
    status,
    detail: withoutUserInfo(detail),
    fix: fix ?? null,
    ms: Math.round(clock.monotonic() - began),
  }
}

/** The checks for a server on another machine. Skips those that would check this machine instead. */
export const elsewhere = (checks: readonly Check[]): Check[] =>
  checks.map((check) => {
    if (!check.asksServer)
      return { ...check, needs: [], run: async () => skip('checks the machine of the server; run it there') }
    return { ...check, needs: check.needs.filter((name) => checks.find((one) => one.name === name)?.asksServer) }
  })
