import { isEventPattern } from '../../events/schema'
import { messageOf } from '../../kernel/errors'
import { isTimeZone, problemOfCron } from '../../kernel/schedule'
import { type Finding, fail, type ManifestCheck, warn } from './check'

/** A skill must declare the permissions it needs (docs/api.md 8.1). */
export const checkPermissions: ManifestCheck = ({ permissions, tools, trigger }) => {
  const findings: Finding[] = []
  const has = (permission: (typeof permissions)[number]) => permissions.includes(permission)
  if ((trigger.type === 'event' || trigger.type === 'schedule') && !has('autonomous:run')) {
    findings.push(
      fail(
        'permissions',
        `A trigger of type "${trigger.type}" runs by itself and needs the permission autonomous:run.`,
      ),
    )
  }
  if (tools.length && permissions.length && !has('execute:tools')) {
    findings.push(
      warn('permissions', 'Tools are declared without execute:tools, so they are left out when the skill is loaded.'),
    )
  }
  if (permissions.length && !has('external:http')) {
    const calling = tools.findIndex(({ endpoint }) => endpoint)
    if (calling >= 0) {
      findings.push(
        fail(
          `tools[${calling}].endpoint`,
          `"tools[${calling}].endpoint" calls another host and needs the permission external:http.`,
        ),
      )
    }
  }
  if (new Set(permissions).size < permissions.length) {
    findings.push(warn('permissions', 'A permission is listed twice.'))
  }
  findings.push(...problemsOfTrigger(trigger))
  return findings
}

function problemsOfTrigger({ type, config }: Parameters<ManifestCheck>[0]['trigger']): Finding[] {
  const lacks = (member: string) => [
    fail(`trigger.config.${member}`, `"trigger.config.${member}" is missing; a trigger of type "${type}" needs it.`),
  ]
  if (type === 'keyword' && !config?.keywords?.length) return lacks('keywords')
  if (type === 'event') return config?.eventPattern ? problemsOfPattern(config.eventPattern) : lacks('eventPattern')
  if (type === 'schedule') return config?.cron ? problemsOfSchedule(config.cron, config.timezone) : lacks('cron')
  return []
}

const problemsOfPattern = (pattern: string): Finding[] =>
  isEventPattern(pattern)
    ? []
    : [
        fail(
          'trigger.config.eventPattern',
          `"trigger.config.eventPattern" is ${messageOf(pattern)}; it must be the name of an event such as order.created, with * for a part.`,
        ),
      ]

function problemsOfSchedule(cron: string, timezone: string | undefined): Finding[] {
  const problem = problemOfCron(cron)
  const of = (member: string, message: string) =>
    fail(`trigger.config.${member}`, `"trigger.config.${member}" ${message}.`)
  return [
    ...(problem ? [of('cron', `is ${messageOf(cron)}, which ${problem}`)] : []),
    ...(timezone === undefined || isTimeZone(timezone)
      ? []
      : [of('timezone', `is ${messageOf(timezone)}, which is not a time zone such as Europe/Vienna`)]),
  ]
}
