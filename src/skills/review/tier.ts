import type { SkillManifest } from '../manifest'
import type { Tier } from '../schema-review'

const SECRET_NAME = /secret|token|passw|api[_-]?key|credential|private[_-]?key|client[_-]?id/i

/**
 * Who has to look (contract 8.2). An endpoint of a tool is access to the outside, whether or not the manifest
 * asks for it; what a check doubts goes one tier up.
 */
export function tierOf(manifest: SkillManifest, isDoubtful: boolean): Tier {
  const { permissions, tools, knowledge, configSchema } = manifest
  const writes = permissions.some((permission) => permission.startsWith('write:'))
  const reachesOut = permissions.includes('external:http') || tools.some(({ endpoint }) => endpoint)
  const runsAlone = permissions.includes('autonomous:run')
  if (reachesOut && (writes || tools.length > 0 || runsAlone)) return 'security'
  if (tools.some(({ permissionLevel }) => permissionLevel === 'system')) return 'security'
  const needsStaff = tools.length > 0 || knowledge.length > 0 || writes || reachesOut || runsAlone
  return needsStaff || asksForSecrets(configSchema) || isDoubtful ? 'staff' : 'auto'
}

const asksForSecrets = (schema: unknown): boolean => schema !== null && SECRET_NAME.test(JSON.stringify(schema ?? ''))
