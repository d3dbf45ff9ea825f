/** The columns of an export, in the order of contract 19. */
export const EXPORT_COLUMNS = [
  'id',
  'timestamp',
  'action',
  'entity_type',
  'entity_id',
  'user_id',
  'org_id',
  'api_key_id',
  'request_id',
  'status',
  'input_summary',
  'output_summary',
  'prev_hash',
  'hash',
] as const
