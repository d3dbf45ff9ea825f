import { setting } from '../../../src/kernel/config'
import { t } from '../../../src/kernel/schema'

export const bookmarkSettings = {
  maxBookmarks: setting({
    env: 'SVC_MAX_BOOKMARKS',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 500,
    about: 'How many bookmarks one person or one organization may have.',
  }),
}
