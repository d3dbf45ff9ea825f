import type { SecretCheck } from '../../src/audit'
import { holdsSecret, isSecretName } from '../../src/text'

/** The check that the container hands to the audit log. */
export const secrets: SecretCheck = { holdsSecret, isSecretName }
