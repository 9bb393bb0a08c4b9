# As hook-client.c, where there is no C compiler: asks the resident daemon what a hook has to answer.
#
#   perl hook-client.pl SOCKET TOKENFILE ENTRY DEADLINE_MS NODE hook CLIENT [FLAG ...]
#   perl hook-client.pl SOCKET TOKENFILE ENTRY DEADLINE_MS NODE run TICKET
#
# Where the daemon cannot be asked, it becomes `NODE FLAG ... ENTRY alone hook CLIENT`, with the same standard input, which answers by itself.
# It never exits with 0 unless the daemon's whole answer is there and says so. Perl's own modules are left out: each costs as much as all the rest.
use strict;

my ($REFUSED, $NOT_RUN, $MAX_INPUT, $MAX_ANSWER, $EINTR) = (2, 125, 32 << 20, 64 << 20, 4);
my ($socket, $token_file, $entry, $deadline_ms, $node, $kind, $name, @flags) = @ARGV;
my $hook = !defined $kind || $kind ne 'run';
my $input = '';

sub fail {
  my ($why) = @_;
  my $what = $hook ? 'decide this call, so it is refused' : 'run this command';
  syswrite STDERR, "hopgate could not $what: $why\n";
  exit($hook ? $REFUSED : $NOT_RUN);
}

fail('it was called with the wrong arguments') if !defined $name;
binmode $_ for *STDIN, *STDOUT, *STDERR;
$SIG{PIPE} = 'IGNORE';
my $seconds = int($deadline_ms / 1000) || 1;
my $began = time;
if ($hook) {
  $SIG{ALRM} = sub { fail('it took too long; try again') };
  alarm $seconds;
}

sub encoded {
  my ($text) = @_;
  $text =~ s/([^\x21-\x24\x26-\x7e])/sprintf '%%%02X', ord $1/ge;
  return $text;
}

# Starts the daemon for the next ones, in a session of its own; whether one is to run is decided by itself.
sub start_daemon {
  return if ($ENV{HOPGATE_DAEMON} || '') eq 'off';
  my $child = fork;
  return if !defined $child;
  if ($child) {
    waitpid $child, 0;
    return;
  }
  my $again = fork;
  exit 0 if !defined $again || $again;
  alarm 0;
  exit 0 if !eval { require POSIX; POSIX::setsid(); 1 } || !chdir '/';
  POSIX::close($_) for 3 .. 255;
  open STDIN, '<', '/dev/null' or exit 0;
  open STDOUT, '>', '/dev/null' or exit 0;
  open STDERR, '>', '/dev/null' or exit 0;
  delete $ENV{NODE_OPTIONS};
  exec {$node} $node, $entry, 'daemon';
  exit 0;
}

# The daemon cannot answer: Node does it, with what was read put back.
sub answer_alone {
  my ($replay) = @_;
  if ($replay) {
    my $kept = 'its input cannot be kept';
    open my $file, '+>', undef or fail("the daemon went away, and $kept");
    binmode $file;
    put($file, $input) && sysseek($file, 0, 0) && open(STDIN, '<&', $file) or fail("the daemon went away, and $kept");
  }
  start_daemon();
  if ($hook) {
    # It has what is left of the time; the alarm outlives the exec and ends a Node that hangs.
    my $left = $seconds - (time - $began);
    fail('the daemon did not answer in time; try again') if $left <= 0;
    $ENV{HOPGATE_DEADLINE_MS} = $left * 1000;
    $SIG{ALRM} = 'DEFAULT';
    alarm $left + 1;
  }
  delete $ENV{NODE_OPTIONS};
  my @shortened = $hook ? @flags : ();
  exec {$node} $node, @shortened, $entry, 'alone', $kind, $name;
  fail('neither the daemon nor Node can be started; run "hopgate daemon status"');
}

sub put {
  my ($handle, $bytes) = @_;
  for (my $at = 0; $at < length $bytes;) {
    my $n = syswrite $handle, $bytes, length($bytes) - $at, $at;
    if (defined $n) { $at += $n }
    elsif ($! != $EINTR) { return 0 }
  }
  return 1;
}

# undef: there is no usable token.
sub token {
  my ($mode, $uid) = (lstat $token_file)[2, 4];
  return if !defined $mode || !-f _ || $uid != $> || $mode & 077;
  open my $file, '<', $token_file or return;
  my $token = <$file>;
  return if !defined $token || length $token < 32;
  $token =~ s/[\r\n].*//s;
  return $token;
}

# undef: nobody listens.
sub connected {
  my ($UNIX, $STREAM, $SOL_SOCKET, $SO_PEERCRED) = (1, 1, 1, 17);
  my $linux = $^O eq 'linux';
  return if length $socket > ($linux ? 107 : 103);
  my $address = $linux ? pack('S a108', $UNIX, $socket) : pack('C C a104', 106, $UNIX, $socket);
  socket my $daemon, $UNIX, $STREAM, 0 or return;
  connect $daemon, $address or return;
  if ($linux) {
    my $peer = getsockopt $daemon, $SOL_SOCKET, $SO_PEERCRED;
    fail('its socket belongs to somebody else') if !defined $peer || (unpack 'i I I', $peer)[1] != $>;
  }
  return $daemon;
}

my ($size, $changed) = (stat $entry)[7, 9];
fail('hopgate is not installed any more where it was; install it again') if !defined $size;
my $token = ($ENV{HOPGATE_DAEMON} || '') eq 'off' ? undef : token();
my $daemon = defined $token ? connected() : undef;
answer_alone(0) if !defined $daemon;

while ($hook) {
  my $n = sysread STDIN, $input, 1 << 16, length $input;
  next if !defined $n && $! == $EINTR;
  fail('its input cannot be read') if !defined $n;
  last if $n == 0;
  fail('its input is larger than 32 MiB') if length $input > $MAX_INPUT;
}
my @passed = grep {
  /^(?:HOPGATE|CLAUDE|CODEX)_/ && !/TOKEN|KEY|SECRET|PASSWORD/ && length("$_=$ENV{$_}") < 4096
} keys %ENV;
my $request = join "\r\n",
  'POST /' . $kind . '/' . encoded($name) . ' HTTP/1.1',
  'Host: hopgate',
  'Connection: close',
  "Authorization: Bearer $token",
  'X-Hopgate-Build: ' . encoded($entry) . ":$size:$changed",
  "X-Hopgate-Pid: $$",
  'Content-Length: ' . length $input,
  (map { 'X-Hopgate-Env: ' . encoded("$_=$ENV{$_}") } @passed),
  "\r\n$input";
put($daemon, $request);

my ($answer, $whole) = ('', undef);
for (;;) {
  my $n = sysread $daemon, $answer, 1 << 16, length $answer;
  next if !defined $n && $! == $EINTR;
  last if !$n;
  fail('the answer is too large') if length $answer > $MAX_ANSWER;
  $whole = $+[0] + $1 if !defined $whole && $answer =~ /\A[^\n]*\n(?:[^\r\n]+\r\n)*?content-length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/i;
  last if defined $whole && length $answer >= $whole;
}
# 503: it is finishing, or of another version.
my ($status) = $answer =~ m{\AHTTP/1\.1 (\d{3}) };
$status = 0 if !defined $status;
if ($status == 200 && $answer =~ /\r\n\r\nhopgate (\d{1,3}) (\d{1,8}) (\d{1,8})\n/g) {
  my ($exit, $out, $err, $at) = ($1, $2, $3, pos $answer);
  if ($exit <= 255 && length($answer) == $at + $out + $err) {
    fail('the answer makes no sense') if $hook && ($exit == 0 ? $err > 0 : $exit != $REFUSED);
    fail('no reason was given') if $hook && $exit == $REFUSED && $err == 0;
    put(*STDOUT, substr $answer, $at, $out) && put(*STDERR, substr $answer, $at + $out, $err)
      or exit($hook ? $REFUSED : 141);
    exit $exit;
  }
}
answer_alone(1) if $hook;
answer_alone(0) if $status == 503;
fail('the daemon went away in the middle of the command, and what came of it is not known');
