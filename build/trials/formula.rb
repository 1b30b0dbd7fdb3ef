# What Homebrew would do with a formula, as far as can be done without it: its checks of style that concern a formula of
# this kind, the download by checksum, `install`, `test do` and `service`. Usage: ruby formula.rb FORMULA FOLDER PREFIX.
require "digest"
require "fileutils"
require "open3"
require "tmpdir"

$faults = []
def fault(text) = $faults << text
def say(text) = puts(text)

class Pathname_ < String
  def install(*sources)
    FileUtils.mkdir_p(self)
    sources.flatten.each do |source|
      names = source.is_a?(Hash) ? source.to_a : [[source, File.basename(source)]]
      names.each do |from, to|
        raise "nothing to install at #{from}" unless File.exist?(from)
        FileUtils.cp_r(from, File.join(self, to))
      end
    end
  end

  def /(other) = Pathname_.new(File.join(self, other))
end

class Service
  attr_reader :set
  def initialize = @set = {}
  def method_missing(name, *values) = @set[name] = values
  def respond_to_missing?(*) = true
end

class Formula
  SYSTEM = { os: RUBY_PLATFORM.include?("darwin") ? :macos : :linux, cpu: RUBY_PLATFORM.match?(/arm64|aarch64/) ? :arm : :intel }
  class << self
    attr_reader :fields, :urls, :tests, :services
    def version = urls.first[:url][/pond-(\d+(?:\.\d+)*)-/, 1]
    def inherited(sub) = (sub.instance_variable_set(:@fields, {}); sub.instance_variable_set(:@urls, []))
    %i[desc homepage license].each { |name| define_method(name) { |value| @fields[name] = value } }
    def url(value) = @urls << { url: value, on: @on.dup }
    def sha256(value) = @urls.last[:sha256] = value
    def depends_on(*) = nil
    { on_macos: :macos, on_linux: :linux, on_arm: :arm, on_intel: :intel }.each do |name, value|
      define_method(name) { |&block| ((@on ||= []) << value; instance_eval(&block); @on.pop) }
    end
    def test(&block) = @tests = block
    def service(&block) = @services = block
  end

  attr_reader :prefix
  def initialize(prefix) = @prefix = Pathname_.new(prefix)
  def bin = prefix / "bin"
  def opt_bin = bin
  def var = prefix / "var"
  def doc = prefix / "share/doc/pond"
  def man1 = prefix / "share/man/man1"
  def bash_completion = prefix / "etc/bash_completion.d"
  def zsh_completion = prefix / "share/zsh/site-functions"
  def fish_completion = prefix / "share/fish/vendor_completions.d"
  # Homebrew reads it from the URL, and refuses one that says the same again.
  def version = self.class.version
  def shell_output(command, expected = 0)
    out, status = Open3.capture2(command)
    fault("#{command} ended with #{status.exitstatus}") unless status.exitstatus == expected
    out
  end
  def assert_equal(wanted, found) = (fault("wanted #{wanted.inspect}, found #{found.inspect}") unless wanted == found)
  def assert_match(wanted, found) = (fault("#{wanted.inspect} is not in #{found[0, 300].inspect}") unless found.match?(wanted.is_a?(String) ? Regexp.escape(wanted) : wanted))
end

formula, folder, prefix = ARGV
text = File.read(formula)
load formula
klass = Object.const_get(File.basename(formula, ".rb").split("-").map(&:capitalize).join)
desc = klass.fields[:desc]

# `brew audit --strict` and `brew style`.
fault("desc is longer than 80") if desc.length > 80
fault("desc begins with an article or the name, or ends with a full stop") if desc.match?(/\A(an?|the|pond)\b|\.\z/i)
fault("homepage is not https") unless klass.fields[:homepage].start_with?("https://")
fault("no license by SPDX") unless klass.fields[:license].match?(/\A[\w.-]+\z/)
fault("trailing blanks or tabs") if text.match?(/[ \t]+$|\t/)
fault("a line is longer than 118") if text.lines.reject { |line| line.include?("url ") || line.include?("assert") }.any? { |line| line.chomp.length > 118 }
fault("no frozen or double quotes") if text.match?(/(?<!\w)'[^']*'/)
fault("the version is said twice: it is in the URLs") if text.match?(/^ *version "/)
order = %w[desc homepage license on_macos on_linux def\ install service test].map { |word| text.index(/^  #{word}\b/) }
fault("parts are missing or out of order") if order.include?(nil) || order != order.sort
klass.urls.each do |row|
  fault("url is not https: #{row[:url]}") unless row[:url].start_with?("https://")
  fault("no version in #{row[:url]}") unless row[:url].include?("/pond-#{klass.version}-")
  fault("no checksum of #{row[:url]}") unless row[:sha256]&.match?(/\A[0-9a-f]{64}\z/)
end
say("#{klass.urls.length} archives, style and order")

row = klass.urls.find { |each| each[:on] == [Formula::SYSTEM[:os], Formula::SYSTEM[:cpu]] }
abort("no archive for this machine") if row.nil?
archive = File.join(folder, File.basename(row[:url]))
fault("the checksum is of another file") unless Digest::SHA256.file(archive).hexdigest == row[:sha256]
Dir.mktmpdir do |work|
  system("tar", "-xzf", archive, "-C", work, exception: true)
  # Homebrew enters the only folder of an archive.
  Dir.chdir(Dir.children(work).map { |name| File.join(work, name) }.first) { klass.new(prefix).install }
end
installed = Dir.glob("#{prefix}/**/*").count { |path| File.file?(path) }
say("install: #{installed} files")
klass.new(prefix).instance_eval(&klass.tests)
say("test do")
made = klass.new(prefix)
service = Service.new
made.singleton_class.define_method(:method_missing) { |name, *values| service.send(name, *values) }
made.singleton_class.define_method(:respond_to_missing?) { |*| true }
made.instance_eval(&klass.services)
program = service.set.fetch(:run).first.first
fault("the service starts #{program}, but the formula installs no such program") unless File.executable?(program)
say("service: #{service.set[:run].first.drop(1).join(" ")}")
$faults.each { |text_| say("FAULT #{text_}") }
exit($faults.empty? ? 0 : 1)
