import { setting } from '../../kernel/config'
import { oneOf } from '../../kernel/schema'

export const authSettings = {
  signup: setting({
    env: 'SVC_SIGNUP',
    schema: oneOf(['open', 'closed'] as const),
    default: 'closed',
    about: 'Whether anyone can create an account with POST /auth/signup: open or closed.',
  }),
}
