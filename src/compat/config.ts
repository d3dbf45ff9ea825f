import { CHAT_PARAMETERS } from '../kernel/caller'
import { setting } from '../kernel/config'
import { oneOf, t } from '../kernel/schema'

/** Settings of the formats that clients of other services use. */
export const formatSettings = {
  responsesTtlDays: setting({
    env: 'SVC_RESPONSES_TTL_DAYS',
    schema: t.Integer({ minimum: 0, maximum: 365 }),
    default: 30,
    about: 'Days for which a response is stored after its last use; 0 stores none.',
  }),
  chatParameters: setting({
    env: 'SVC_CHAT_PARAMETERS',
    schema: oneOf(CHAT_PARAMETERS),
    default: 'by_base',
    about:
      'For keys without a choice of their own: whether parameters such as top_p count in /chat/completions. ' +
      '"by_base" ignores them under /api/v1 only.',
  }),
  embedTokens: setting({
    env: 'SVC_EMBED_TOKENS',
    schema: oneOf(['cl100k_base', 'o200k_base', 'off'] as const),
    default: 'cl100k_base',
    about: 'Vocabulary that token arrays in /embeddings are read with; "off" refuses them.',
  }),
  cacheTtlEmbedding: setting({
    env: 'SVC_CACHE_TTL_EMBEDDING',
    schema: t.Integer({ minimum: 0, maximum: 2_592_000 }),
    default: 86_400,
    about: 'Seconds for which the vector of a text is cached; 0 turns that off.',
  }),
  batchConcurrency: setting({
    env: 'SVC_BATCH_CONCURRENCY',
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 4,
    about: 'Lines of batches that one process runs at a time.',
  }),
  batchDiscountPercent: setting({
    env: 'SVC_BATCH_DISCOUNT_PERCENT',
    schema: t.Integer({ minimum: 0, maximum: 90 }),
    default: 0,
    about: 'Percent by which each line of a batch costs less than the same call.',
  }),
} as const
