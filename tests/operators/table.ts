import { createOperatorRules } from '../../src/http/operator-edge'
import type { World } from '../support/world'

/** The rules of all operator routes, as the world serves them. It needs `opsListen`. */
export function operatorRulesOf({ app }: World) {
  const rules = createOperatorRules()
  rules.learn(app.remoteOps!.routes)
  return rules
}
