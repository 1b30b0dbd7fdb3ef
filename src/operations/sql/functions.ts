/**
 * The functions that a query may call. A closed list: what is not here reads files or settings, makes much of little
 * (lists and texts of any length from a number), or works for minutes where nothing can stop it.
 */

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const OPERATORS = words("!__postfix ! !~~ !~~* % & && * ** + - ->> -> / // <@ @> ^ ^@ | || ~ ~~ ~~* ~~~ << >> ~~~*")

const AGGREGATES = words(`
  any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null argmax argmin
  array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop covar_samp entropy favg
  first fsum group_concat histogram kurtosis last list listagg mad max max_by mean median min min_by mode product quantile
  quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow sumkahan kahan_sum var_pop
  var_samp variance weighted_avg wavg geomean geometric_mean`)

const WINDOWS = words(`
  cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number`)

const TEXTS = words(`
  ascii bit_length char_length character_length chr concat concat_ws contains ends_with from_base64 base64 to_base64 hash hex unhex
  ilike_escape instr jaccard lcase left left_grapheme len length length_grapheme like_escape lower ltrim md5 nfc_normalize
  not_ilike_escape not_like_escape octet_length ord parse_dirname parse_dirpath parse_filename parse_path position prefix
  regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
  regexp_split_to_table repeat replace reverse right right_grapheme rtrim sha1 sha256 split split_part starts_with str_split
  str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos substr substring
  substring_grapheme suffix translate trim ucase unicode upper url_decode url_encode format_bytes formatreadablesize
  formatreadabledecimalsize hamming mismatches lpad rpad`)

const TIMES = words(`
  age ago century current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub date_trunc
  datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns
  epoch_us era get_current_time get_current_timestamp hour isodow isoyear julian last_day make_date make_time make_timestamp
  make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month monthname nanosecond
  normalized_interval now quarter second strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries
  to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
  to_timestamp to_weeks to_years today transaction_timestamp try_strptime week weekday weekofyear year yearweek`)

const NUMBERS = words(`
  abs acos acosh add asin asinh atan atan2 atanh bin bit_count cbrt ceil ceiling cos cosh cot degrees divide equi_width_bins even
  exp factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor isfinite isinf isnan lcm least
  least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power radians random round round_even
  roundbankers sign signbit sin sinh sqrt subtract tan tanh to_base to_binary to_hex trunc xor`)

const JSONS = words(`
  json json_array json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text
  json_extract_string json_group_array json_group_object json_group_structure json_keys json_merge_patch json_object
  json_quote json_structure json_type json_valid json_value row_to_json to_json array_to_json from_json
  json_get_string json_get_int json_get_bool json_array_contains json_transform`)

const NESTED = words(`
  array_concat array_contains array_distinct array_extract array_filter array_has array_has_all array_has_any array_indexof
  array_intersect array_length array_position array_reverse array_reverse_sort array_slice array_sort array_unique array_value
  array_zip cardinality element_at filter flatten list_any_value list_append list_avg list_cat list_concat list_contains
  list_count list_distinct list_element list_extract list_filter list_first list_has list_has_all list_has_any
  list_indexof list_intersect list_last list_max list_median list_min list_mode list_pack list_position list_prepend
  list_reverse list_reverse_sort list_slice list_sort list_sum list_unique list_value list_zip map map_concat map_contains
  map_entries map_extract map_extract_value map_from_entries map_keys map_values row struct_concat struct_contains
  struct_extract struct_extract_at struct_insert struct_keys struct_pack struct_values union_extract union_tag union_value
  unnest unpivot_list generate_subscripts`)

const OTHERS = words(`
  coalesce constant_or_null error gen_random_uuid ifnull nullif replace_type typeof uuid uuidv4 uuidv7 grouping grouping_id
  if combine try is_histogram_other_bin`)

export const OFFERED_FUNCTIONS: ReadonlySet<string> = new Set(
  [OPERATORS, AGGREGATES, WINDOWS, TEXTS, TIMES, NUMBERS, JSONS, NESTED, OTHERS].flat(),
)

/** Where a table may stand. `range` and `generate_series` give rows one by one there, and not a list in memory. */
export const OFFERED_TABLE_FUNCTIONS: ReadonlySet<string> = new Set(
  words("fts generate_series json_each json_tree range unnest"),
)

const LENGTH_MAX = 100_000_000

/** What makes a long text of short ones, bounded: the engine's own count of memory does not see such texts. */
export const BOUNDED_MACROS: readonly string[] = [
  bounded("repeat(s, n)", "coalesce(octet_length(encode(s)), 0) * coalesce(n, 0)", "system.main.repeat(s, n)"),
  bounded("lpad(s, n, p)", "coalesce(n, 0)", "system.main.lpad(s, n, p)"),
  bounded("rpad(s, n, p)", "coalesce(n, 0)", "system.main.rpad(s, n, p)"),
  bounded(
    "replace(s, a, b)",
    "coalesce(length(s), 0)::double * coalesce(length(b), 0)",
    "system.main.replace(s, a, b)",
  ),
  `create macro regexp_replace(s, a, b) as ${checked("coalesce(length(s), 0)::double * coalesce(length(b), 0)", "system.main.regexp_replace(s, a, b)")},
    (s, a, b, f) as ${checked("coalesce(length(s), 0)::double * coalesce(length(b), 0)", "system.main.regexp_replace(s, a, b, f)")}`,
]

function bounded(head: string, size: string, call: string): string {
  return `create macro ${head} as ${checked(size, call)}`
}

function checked(size: string, call: string): string {
  return `case when ${size} > ${LENGTH_MAX} then error('a text of more than ${LENGTH_MAX} characters would be made') else ${call} end`
}
