import type { SkillManifest } from '../manifest'

/** A finding of one check with its location, such as `tools[2].name`, line 14. */
export type Evidence = {
  check: string
  severity: 'warn' | 'fail'
  path: string
  /** Line within the member's text; null when the finding is not about a line. */
  line: number | null
  message: string
  excerpt?: string
}

export type CheckName = 'schema' | 'injection_scan' | 'tool_names' | 'permissions' | 'slug_unique' | 'version'

/** A finding without its check's name. A check without findings has passed. */
export type Finding = Omit<Evidence, 'check'>

export const fail = (path: string, message: string, line: number | null = null): Finding => ({
  severity: 'fail',
  path,
  line,
  message,
})
export const warn = (path: string, message: string, line: number | null = null): Finding => ({
  severity: 'warn',
  path,
  line,
  message,
})

/** A check that needs only the manifest. */
export type ManifestCheck = (manifest: SkillManifest) => Finding[]

const SHOWN = 3

/** The result of a check: `pass`, `warn: …` or `fail: …`. Omits warnings when there are failures (docs/api.md 8.2). */
export function resultOf(findings: readonly Finding[]): string {
  const failed = findings.filter(({ severity }) => severity === 'fail')
  const shown = failed.length ? failed : findings
  if (!shown.length) return 'pass'
  const more = shown.length > SHOWN ? ` ${shown.length - SHOWN} more.` : ''
  const sentences = shown
    .slice(0, SHOWN)
    .map(({ message, line }) => (line === null ? message : `Line ${line}: ${message}`))
  return `${failed.length ? 'fail' : 'warn'}: ${sentences.join(' ')}${more}`
}

/** Whether no check failed. Warnings do not reject a manifest. */
export const hasPassed = (checks: Readonly<Record<string, string>>): boolean =>
  !Object.values(checks).some((result) => result.startsWith('fail'))
