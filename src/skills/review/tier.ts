import type { SkillManifest } from '../manifest'
import type { Tier } from '../schema-review'

const SECRET_NAME = /secret|token|passw|api[_-]?key|credential|private[_-]?key|client[_-]?id/i

/**
 * The review tier and the reasons for it (contract 8.2). A tool endpoint counts as external access even if no
 * permission declares it, and an install or uninstall prompt counts as an autonomous run (contract 8.1). A doubt of
 * the injection scan raises tier `auto` to `staff`.
 */
export function weigh(manifest: SkillManifest, isDoubtful: boolean): { tier: Tier; reasons: string[] } {
  const { permissions, tools, knowledge, configSchema, hooks } = manifest
  const writes = permissions.some((permission) => permission.startsWith('write:'))
  const reachesOut = permissions.includes('external:http') || tools.some(({ endpoint }) => endpoint)
  const runsAlone = permissions.includes('autonomous:run') || Boolean(hooks?.onInstall || hooks?.onUninstall)
  const grave = textOf([
    [reachesOut && writes, 'It calls other hosts and may write.'],
    [reachesOut && tools.length > 0, 'It calls other hosts and has tools.'],
    [reachesOut && runsAlone, 'It calls other hosts and runs by itself.'],
    [
      tools.some(({ permissionLevel }) => permissionLevel === 'system'),
      'One of its tools needs the permission level system.',
    ],
  ])
  if (grave.length) return { tier: 'security', reasons: grave }
  const reasons = textOf([
    [tools.length > 0, 'It has tools.'],
    [knowledge.length > 0, 'It has knowledge files.'],
    [writes, 'It may write.'],
    [reachesOut, 'It calls other hosts.'],
    [runsAlone, 'It runs by itself.'],
    [
      configSchema !== null && SECRET_NAME.test(JSON.stringify(configSchema ?? '')),
      'Its settings ask for something like a secret.',
    ],
    [isDoubtful, 'The injection scan has doubts.'],
  ])
  return { tier: reasons.length ? 'staff' : 'auto', reasons }
}

const textOf = (rules: readonly [boolean, string][]): string[] =>
  rules.flatMap(([applies, reason]) => (applies ? [reason] : []))
